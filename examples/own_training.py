"""A training of one's own to try `advisor bench -- COMMAND` with; it runs on a GPU or without.

    advisor bench --name my-first --steps 20000 -- python examples/own_training.py

A small convolutional autoencoder on random images: no data set is needed, and no line of it knows
that it is timed.
"""

import torch
from torch import nn


def main() -> None:
    """Train for long: whoever times it ends it."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 64, 3, stride=2, padding=1),
        nn.GELU(),
        nn.Conv2d(64, 128, 3, stride=2, padding=1),
        nn.GELU(),
        nn.ConvTranspose2d(128, 64, 4, stride=2, padding=1),
        nn.GELU(),
        nn.ConvTranspose2d(64, 3, 4, stride=2, padding=1),
    ).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    images = torch.utils.data.TensorDataset(torch.rand(2048, 3, 64, 64))
    for epoch in range(1000):
        for (batch,) in torch.utils.data.DataLoader(images, batch_size=32, shuffle=True):
            batch = batch.to(device)
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                loss = nn.functional.mse_loss(model(batch), batch)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print(f"epoch {epoch}: loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
