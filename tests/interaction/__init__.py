"""One suite of scenarios over every transport and against servers that we did not write."""
