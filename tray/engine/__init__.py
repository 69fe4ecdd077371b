"""From event to decision: plan, gates, execution, merge. Begin with pipeline.py."""
