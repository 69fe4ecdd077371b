"""What Hooktray installs and watches: the relay, its entries in agents' settings, and its state folder."""
