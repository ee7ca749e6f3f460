"""Figures of one fit, and a report as one HTML page."""
