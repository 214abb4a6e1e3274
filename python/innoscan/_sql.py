"""Conditions of SQL."""


def comparison(name: str, operator: str, number: int) -> str:
    """The comparison of a column with a number."""
    return f"{quoted(name)} {operator} {number}"


def membership(name: str, numbers: list[int]) -> str:
    """The condition that a column has one of the numbers."""
    return f"{quoted(name)} IN ({', '.join(map(str, numbers))})"


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
