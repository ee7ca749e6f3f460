"""A CUDA device as a backend: the core's own operators, compiled for the device, with the core's bits."""

from symseed.cuda.backend import CudaBackend
from symseed.cuda.check import Diagnosis, check
from symseed.cuda.device import DeviceFacts, require
from symseed.cuda.faults import DeviceFault, DeviceMissingError

__all__ = ["CudaBackend", "DeviceFacts", "DeviceFault", "DeviceMissingError", "Diagnosis", "check", "require"]
