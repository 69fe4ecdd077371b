"""What all readers of hook declarations share."""
