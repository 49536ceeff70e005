"""What is trained: architectures of models, what a step of each computes, and timm's by name."""
