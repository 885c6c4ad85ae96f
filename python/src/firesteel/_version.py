# The version, once: the wheel, the jar and `check` all read it here. The build takes what stands
# between the first two quotation marks.

__version__ = "0.1.0"
