"""What travels between the units of the core: both sides import it from here, and neither the other."""
