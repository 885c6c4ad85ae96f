# The version, once: the wheel, the jar and `check` all read it here.

__version__ = "0.1.0"
