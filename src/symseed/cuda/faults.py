"""Faults of a device: it is missing, its memory is full, or it is gone. Each message is a sentence for users."""

from __future__ import annotations

from symseed.errors import SettingsError, SymseedError


class DeviceMissingError(SettingsError):
    """No device can be used here; the message says what is missing, and what to do."""


class DeviceFault(SymseedError):  # noqa: N818 - an event of the device, answered by the processor
    """A call of the device failed."""


class DeviceMemoryFault(DeviceFault):
    """The device has too little free memory."""
