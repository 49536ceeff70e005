"""A trial as a group of processes: the machine, the start, the end, the record that follows."""
