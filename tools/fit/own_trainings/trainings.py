"""Trainings of many kinds, as a user would write them, to time with `advisor bench -- COMMAND`.

    python trainings.py KIND [SIZE [HOW]]

None of them knows that it is timed. SIZE below 1 makes each batch smaller, to try one
without a GPU. Each prints the median of its own last 20 steps when it ends, by its own events.
"""

# mypy: ignore-errors

import itertools
import sys
import time
from contextlib import nullcontext
from statistics import median

import torch
import torch.nn.functional as F
from torch import nn

sys.argv = [word for word in sys.argv if not word.startswith("--local")]  # of DeepSpeed's launcher
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SIZE = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0


def batch_of(count: int) -> int:
    """So many samples, of which a trial run takes a part."""
    return max(2, int(count * SIZE))


def half(dtype):
    """Autocast, which a processor has for bfloat16 alone."""
    if DEVICE == "cpu":
        return torch.autocast("cpu", torch.bfloat16) if dtype else nullcontext()
    return torch.autocast("cuda", dtype) if dtype else nullcontext()


class Loop:
    """Steps until it is ended, timed by its own events."""

    def __init__(self):
        self.marks = []

    def mark(self):
        if DEVICE == "cpu":
            self.marks.append(time.perf_counter())
        else:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.marks.append(event)

    def tell(self):
        kept = self.marks[-32:-12]  # the last ones were profiled
        if len(kept) < 2:
            return
        if DEVICE == "cuda":
            torch.cuda.synchronize()
            seconds = [a.elapsed_time(b) / 1000 for a, b in itertools.pairwise(kept)]
        else:
            seconds = [b - a for a, b in itertools.pairwise(kept)]
        print(f"OWN {sys.argv[1]} {median(seconds):.6f}", file=sys.stderr, flush=True)


def train(model, loss_of, dtype=torch.bfloat16, optimizer=None, scaler=False, batches=None):
    """The usual loop. ``loss_of`` gives a loss, of a batch where there are any."""
    model.to(DEVICE).train()
    optimizer = optimizer or torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad], lr=1e-5
    )
    scaler = torch.amp.GradScaler(DEVICE, enabled=scaler and DEVICE == "cuda")
    loop = Loop()
    try:
        for batch in batches or iter(int, 1):
            optimizer.zero_grad()
            with half(dtype):
                loss = loss_of(batch) if batches else loss_of()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            loop.mark()
    finally:
        loop.tell()


def text(vocabulary, *shape):
    return torch.randint(0, vocabulary, shape, device=DEVICE)


def pictures(*shape, **options):
    return torch.rand(*shape, device=DEVICE, **options)


def language_model(config, sequence, count, **options):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_config(config)
    tokens = text(1000, batch_of(count), sequence)
    train(model, lambda: model(input_ids=tokens, labels=tokens).loss, **options)


def decoder():
    from transformers import GPTNeoXConfig

    language_model(
        GPTNeoXConfig(
            hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
        ),
        1024,
        8,
    )


def decoder_tf32():
    from transformers import GPT2Config

    torch.backends.cuda.matmul.allow_tf32 = True
    language_model(GPT2Config(), 1024, 8, dtype=None)


class Block(nn.Module):
    """Of a U-Net: two convolutions and the time of the noise."""

    def __init__(self, before, after):
        super().__init__()
        self.one = nn.Sequential(
            nn.GroupNorm(8, before), nn.SiLU(), nn.Conv2d(before, after, 3, padding=1)
        )
        self.two = nn.Sequential(
            nn.GroupNorm(8, after), nn.SiLU(), nn.Conv2d(after, after, 3, padding=1)
        )
        self.time = nn.Linear(256, after)
        self.skip = nn.Conv2d(before, after, 1)

    def forward(self, x, t):
        h = self.one(x) + self.time(t)[:, :, None, None]
        return self.skip(x) + self.two(h)


class Attend(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.inner, self.out = (
            nn.GroupNorm(8, width),
            nn.Conv2d(width, 3 * width, 1),
            nn.Conv2d(width, width, 1),
        )

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.inner(self.norm(x)).view(b, 3, 8, c // 8, h * w).transpose(-1, -2).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(-1, -2).reshape(b, c, h, w))


class UNet(nn.Module):
    """Of a diffusion model on images of 64 by 64."""

    def __init__(self, width=128):
        super().__init__()
        widths = [width, 2 * width, 3 * width, 4 * width]
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        before = width
        for each in widths:
            self.down.append(nn.ModuleList([Block(before, each), Block(each, each)]))
            before = each
        self.middle = Attend(before)
        for each in reversed(widths):
            self.up.append(nn.ModuleList([Block(before + each, each), Block(each, each)]))
            before = each
        self.last = nn.Conv2d(before, 3, 3, padding=1)

    def forward(self, x, t):
        x, kept = self.first(x), []
        for at, (one, two) in enumerate(self.down):
            x = two(one(x, t), t)
            kept.append(x)
            x = F.avg_pool2d(x, 2) if at < 3 else x
        x = self.middle(x)
        for at, (one, two) in enumerate(self.up):
            x = F.interpolate(x, scale_factor=2) if at else x
            x = two(one(torch.cat([x, kept.pop()], 1), t), t)
        return self.last(x)


def unet():
    model = UNet().to(memory_format=torch.channels_last)
    images = pictures(batch_of(64), 3, 64, 64).to(memory_format=torch.channels_last)
    noise = pictures(len(images), 256)
    train(model, lambda: F.mse_loss(model(images, noise), images))


class DiTBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width, elementwise_affine=False)
        self.norm2 = nn.LayerNorm(width, elementwise_affine=False)
        self.inner, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width)
        )
        self.change = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

    def forward(self, x, c):
        a, b, g, d, e, h = self.change(c)[:, None].chunk(6, -1)
        y = self.norm1(x) * (1 + a) + b
        n, s, w = y.shape
        q, k, v = self.inner(y).view(n, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, s, w)
        x = x + g * self.out(y)
        return x + h * self.mlp(self.norm2(x) * (1 + d) + e)


class DiT(nn.Module):
    """DiT-B/2 on latents of 32 by 32."""

    def __init__(self, width=768, depth=12, heads=12):
        super().__init__()
        self.first = nn.Conv2d(4, width, 2, 2)
        self.blocks = nn.ModuleList(DiTBlock(width, heads) for _ in range(depth))
        self.last = nn.Linear(width, 16)

    def forward(self, x, c):
        x = self.first(x).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = block(x, c)
        return self.last(x)


def dit(compiled=False):
    model = DiT().to(DEVICE)
    step = torch.compile(model) if compiled else model
    latents = pictures(batch_of(128), 4, 32, 32)
    condition, noise = pictures(len(latents), 768), pictures(len(latents), 256, 16)
    train(model, lambda: F.mse_loss(step(latents, condition), noise))


def dit_compiled():
    dit(compiled=True)


def lstm():
    words, width = 10000, 1500
    embed, inner = nn.Embedding(words, width), nn.LSTM(width, width, 2, dropout=0.5)
    model = nn.ModuleList([embed, inner, nn.Linear(width, words)])
    tokens = text(words, 64, batch_of(128))

    def loss():
        return F.cross_entropy(model[2](inner(embed(tokens))[0]).view(-1, words), tokens.view(-1))

    train(model, loss, dtype=None, optimizer=torch.optim.SGD(model.to(DEVICE).parameters(), 0.1))


class GraphNet(nn.Module):
    """Three layers of means over neighbours (GraphSAGE)."""

    def __init__(self, width=256):
        super().__init__()
        self.inner = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(3))
        self.out = nn.Linear(width, 40)

    def forward(self, x, one, other, degree):
        for layer in self.inner:
            near = torch.zeros_like(x).index_add_(0, other, x[one]) / degree
            x = F.relu(layer(torch.cat([x, near], -1)))
        return self.out(x)


def graph():
    nodes, edges = batch_of(170_000), batch_of(1_200_000)
    x, labels = pictures(nodes, 256), text(40, nodes)
    one, other = text(nodes, edges), text(nodes, edges)
    degree = torch.bincount(other, minlength=nodes).clamp(min=1).unsqueeze(1)
    model = GraphNet()
    train(model, lambda: F.cross_entropy(model(x, one, other, degree), labels), dtype=None)


def mamba():
    from transformers import MambaConfig

    language_model(MambaConfig(hidden_size=768, num_hidden_layers=24), 1024, 16)


def detector():
    from torchvision.models.detection import fasterrcnn_resnet50_fpn

    model = fasterrcnn_resnet50_fpn(weights=None, weights_backbone=None)
    images = list(pictures(batch_of(8), 3, 640, 640))
    boxes = torch.rand(10, 4, device=DEVICE) * 200
    boxes[:, 2:] += boxes[:, :2] + 50
    targets = [{"boxes": boxes, "labels": text(90, 10) + 1} for _ in images]
    train(model, lambda: sum(model(images, targets).values()), dtype=torch.float16, scaler=True)


def gan():
    def up(a, b, stride=2, padding=1):
        return [nn.ConvTranspose2d(a, b, 4, stride, padding), nn.BatchNorm2d(b), nn.ReLU()]

    def down(a, b):
        return [nn.Conv2d(a, b, 4, 2, 1), nn.BatchNorm2d(b), nn.LeakyReLU(0.2)]

    make = nn.Sequential(
        *up(100, 1024, 1, 0),
        *up(1024, 512),
        *up(512, 256),
        *up(256, 128),
        nn.ConvTranspose2d(128, 3, 4, 2, 1),
        nn.Tanh(),
    ).to(DEVICE)
    judge = nn.Sequential(
        *down(3, 128), *down(128, 256), *down(256, 512), *down(512, 1024), nn.Conv2d(1024, 1, 4)
    ).to(DEVICE)
    first = torch.optim.Adam(judge.parameters(), 2e-4)
    second = torch.optim.Adam(make.parameters(), 2e-4)
    real, seeds = pictures(batch_of(256), 3, 64, 64), pictures(batch_of(256), 100, 1, 1)
    loop, right = Loop(), torch.ones(batch_of(256), 1, 1, 1, device=DEVICE)
    torch.backends.cudnn.allow_tf32 = True
    criterion = nn.BCEWithLogitsLoss()
    try:
        while True:
            first.zero_grad()
            fake = make(seeds)
            (criterion(judge(real), right) + criterion(judge(fake.detach()), 0 * right)).backward()
            first.step()
            loop.mark()
            second.zero_grad()
            criterion(judge(fake), right).backward()
            second.step()
    finally:
        loop.tell()


def whisper():
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    model = WhisperForConditionalGeneration(
        WhisperConfig(
            d_model=768,
            encoder_layers=12,
            decoder_layers=12,
            encoder_attention_heads=12,
            decoder_attention_heads=12,
            encoder_ffn_dim=3072,
            decoder_ffn_dim=3072,
        )
    )
    sound, words = pictures(batch_of(16), 80, 3000), text(50000, batch_of(16), 200)
    train(model, lambda: model(input_features=sound, labels=words).loss)


def lora():
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, LlamaConfig

    small = SIZE < 1
    config = LlamaConfig(
        hidden_size=2048,
        num_hidden_layers=2 if small else 16,
        num_attention_heads=32,
        num_key_value_heads=8,
        intermediate_size=8192,
        vocab_size=1000 if small else 128256,
        tie_word_embeddings=True,
    )
    model = AutoModelForCausalLM.from_config(config).to(torch.bfloat16)
    model = get_peft_model(model, LoraConfig(r=16, target_modules="all-linear"))
    tokens = text(1000, batch_of(4), 2048)
    train(model, lambda: model(input_ids=tokens, labels=tokens).loss)


def loading():
    """Batches that a slow disk or program loads."""
    import numpy as np
    from torchvision.models import resnet50

    class Slow(torch.utils.data.Dataset):
        def __len__(self):
            return 1_000_000

        def __getitem__(self, index):
            rng = np.random.default_rng(index)
            image = rng.random((3, 448, 448), dtype=np.float32)[:, :224, :224]
            return torch.from_numpy(np.ascontiguousarray(image)), index % 1000

    model = resnet50()
    loader = torch.utils.data.DataLoader(Slow(), batch_of(128), num_workers=2, pin_memory=True)

    def loss(batch):
        images, labels = (each.to(DEVICE, non_blocking=True) for each in batch)
        return F.cross_entropy(model(images).float(), labels)

    train(model, loss, batches=loader)


def small_decoder():
    """A decoder of 1B parameters and its tokens, of which a trial run takes a part."""
    from transformers import AutoModelForCausalLM, GPTNeoXConfig

    small = SIZE < 1
    config = GPTNeoXConfig(
        hidden_size=256 if small else 2048,
        num_hidden_layers=2 if small else 16,
        num_attention_heads=8,
        intermediate_size=1024 if small else 8192,
    )
    model = AutoModelForCausalLM.from_config(config).to(DEVICE)
    return model, text(1000, batch_of(8), 64 if small else 1024)


def zero():
    """DeepSpeed's engine, on the GPUs of any launcher; the third word is the ZeRO stage."""
    import deepspeed

    deepspeed.init_distributed("nccl" if DEVICE == "cuda" else "gloo")
    model, tokens = small_decoder()
    settings = {
        "train_micro_batch_size_per_gpu": len(tokens),
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": int(sys.argv[3])},
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-5, "torch_adam": True}},
        "zero_allow_untested_optimizer": True,
    }
    engine, *_ = deepspeed.initialize(model=model, config=settings)
    tokens = tokens.to(engine.device)
    loop = Loop()
    try:
        while True:
            engine.backward(engine(input_ids=tokens, labels=tokens).loss)
            engine.step()
            loop.mark()
    finally:
        loop.tell()


def lightning():
    """Lightning's Trainer; the third word is the number of GPUs."""
    import pytorch_lightning as pl

    loop = Loop()

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.model, tokens = small_decoder()
            self.tokens = tokens.cpu()

        def training_step(self, batch, _):
            return self.model(input_ids=batch, labels=batch).loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-5)

        def on_train_batch_end(self, *_):
            loop.mark()

        def train_dataloader(self):
            return torch.utils.data.DataLoader(
                self.tokens.repeat(100_000 // len(self.tokens), 1), batch_size=len(self.tokens)
            )

    try:
        pl.Trainer(
            max_steps=120_000,
            max_epochs=-1,
            accelerator="gpu" if DEVICE == "cuda" else "cpu",
            devices=int(sys.argv[3]),
            precision="bf16-mixed",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
        ).fit(Module())
    finally:
        loop.tell()


def several():
    """On all GPUs of a launcher: DDP or FSDP2 by the third word."""
    import torch.distributed as dist

    dist.init_process_group("nccl" if DEVICE == "cuda" else "gloo")
    rank = dist.get_rank()
    if DEVICE == "cuda":
        torch.cuda.set_device(rank)
    how = sys.argv[3] if len(sys.argv) > 3 else "ddp"
    model, tokens = small_decoder()
    if how == "ddp":
        model = nn.parallel.DistributedDataParallel(model)
    else:
        from torch.distributed.fsdp import fully_shard

        for layer in model.gpt_neox.layers:
            fully_shard(layer)
        fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    loop = Loop()
    try:
        while True:
            optimizer.zero_grad()
            with half(torch.bfloat16):
                loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            optimizer.step()
            loop.mark()
    finally:
        loop.tell()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
