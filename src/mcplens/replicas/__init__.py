"""What several replicas of one gateway share: a store, and who owns what in it."""
