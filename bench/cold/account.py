"""What a cold program says at its end, so that its own CPU can be told from its children's."""

import resource


def close_account(path: str) -> None:
    """Write down the CPU of the children that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(path, "w") as file:
        file.write(f"{usage.ru_utime + usage.ru_stime}")
