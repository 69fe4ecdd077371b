"""Alerts: which decision deserves which notification and sound, and the back ends that deliver them."""
