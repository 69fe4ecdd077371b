"""From event to decision: plan, gates, runners, merge. Begin with pipeline.py."""
