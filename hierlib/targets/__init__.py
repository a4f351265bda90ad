"""What is to be learned: powers and their series, concept classes, hierarchies of a base and a composite signal."""
