"""What calls to the disk are made to fail in (faulter.py): the list of operations, which fault_files.py and fault_store.py fill."""


class Operation:
    def __init__(self, function, offline):
        self.function, self.offline = function, offline
        self.name = function.__name__.replace("_", " ")


OPERATIONS = []


def operation(function):
    """One that runs on a mount, of the store with op/ empty."""
    OPERATIONS.append(Operation(function, False))
    return function


def offline_operation(function):
    """One that begins without a mount."""
    OPERATIONS.append(Operation(function, True))
    return function


