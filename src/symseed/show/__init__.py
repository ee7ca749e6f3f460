"""One fit for the eye: figures, and a report as one HTML page."""
