"""The lists at the end of docs/prediction.md: what was chosen, tried, and not taken.

Items stand apart by an empty line.
"""

from __future__ import annotations

CHOSEN = """
Chips with half the load units a multiprocessor feed the taps of depthwise convolutions half as
fast. The units are from the makers' white papers; ConvNeXt's residuals prompted their use.

The paper's times that needed offloading have a scatter of their own, by a rule of bytes.

The paper's clock hides a number of kernels, and so of layers: more of a ConvNeXt (20 kernels a
block against 38 a layer of a transformer), and more in FP32, which casts nothing (uncompiled, a
ViT's layer launches 30 kernels backward for 48). These were counted before anything was fitted.

The hidden kernels are the last of a pass, the first blocks of a ConvNeXt, which take longest.
fp16's loss scaler waits for them, and that wait is timed once a step.

Both were read in the paper's program when ConvNeXt and ViT were furthest off with their model out.
With the blocks and the scaler the fit is likelier by 2 without a factor more, and what it asks of a
ConvNeXt is 1.3 times the count where it was 1.9. The likelihood does not ask for the factor of FP32
(0.3). We kept it since it was counted: without it ViT and ConvNeXt were 29 % and 27 % off with
their model out, with it 17 % and 15 %.

The paper's clock sees all of a step whose update is offloaded, since the host waits for the last
gradients, and the paper's searches took what that clock saw as fastest. Of four readings (nothing,
offloading, checkpointing too, everything of DeepSpeed's) this one is the likeliest, by 14 over
nothing and by 17 over the last.

Other people's code has a scatter from model to model.

Models of images have a width of their own, since they proved two and a half times as far from what
physics says of them as models of text. Most of that was the physics (next), but ours are counted
apart still.

Profiles of twelve passes of an H100 (docs/measurements.md) told why models of images were so far
off, and the fit is likelier by 29 for it. Convolutions take TF32 with naive settings too, since
PyTorch lets them unless it is told otherwise, and have a factor of their own. FP32 casts nothing,
so that elementwise work and scores cost less a byte. TF32 products reach less of their peak.

The compiler opens the fused attention of BERT and ViT into products and a softmax where it is given
the whole model. Profiles of transformers 5.17 show it, and the fit is likelier by 26. The paper's
transformers of 2024 wrote none of the masks in those profiles, so that its ViT keeps its attention.

A narrow model's vocabulary is bound by the logits that its products write and read: likelier by 2.

A weight's gradient in TF32 has no more tiles than the weight, so that a Hopper's multiprocessors
stand idle where it has few. Profiles of ViT-B/16 and ViT showed it, and the kernels' names by how
many. The fit is likelier by 3. ConvNeXt Large has as many tiles as ViT-B/16 in most of its layers.

Under autocast experts train in FP32, T5's attention is not fused, timm's always is, but for the
models whose code computes its scores itself. Twenty times of such models showed it, twelve of them
with profiles; they and the rules came together, so that no likelihood tells them apart.

cuDNN's batch norm walks through a channel with one block of threads, so that it takes as long for
16 channels as for 256: 2.1 ns a position. Profiles without compilation showed it: MobileNetV3's
norms take 43.9 of 75.5 ms, where the count by position says 43.6, EfficientNet-B0's 45.7 for 42.5.
Three networks with more channels take 8 to 11 ms more, for what they read and write. The fit is
likelier by 18. It holds for other people's uncompiled ResNets too (by 5).

In half precision the layers of plain vision transformers cost less in elementwise work than those
of text, as profiles of DeiT-S, timm's ViT-B/16 and its Mixer have it (a factor of 0.6 to begin
with): likelier by 2, and images with their model out are 10.0 % off in the mean for 10.6 %. Swin's
are not: its copies of windows are passes of their own.

What physics misses of a model's naive settings it need not miss of others: an effect of each model
with naive settings. Likelier by 9. A step waits for the host besides, 8 to 22 ms in ten profiles
(by 1).

A loop over experts keeps the GPU waiting 140 microseconds for each product, less what the product
takes. It came with its measurements, none of which is among the evidence.

Settings beyond the paper's are apart for decoders and the rest. They count as a method of their own
in the effects of a stack, and what they gain in elementwise work may move as freely as without them
(0.4, not 0.2). The cut of our own later times prompted it; it is likelier by 2.

Machines of one card are wired differently, which moves the exchange alone. This stands in place of
an effect of several GPUs of a card on a bus whatever they exchange. It is likelier by 9, and of
seven ways to write it the likeliest but for rounding.

No bridge joins two cards on a bus: likelier by 4.

For a new model the widths are calibrated, by our own times of text and of images, and by other
people's: we leave groups of what the fit saw out and count what is inside, with one group's worth
of trust in the widths as they are. Ours of images had held 74 %.

For a new GPU and a new program we do not count: the widths follow from the likelihood of the groups
left out and the prior that all widths have. Counted, they held 83 % with all GPUs on PCIe out, for
seven types of GPU say little about how many of their times are inside. With no calibration of the
two at all, 92 % would hold there, and all of our own stack's with a GPU out.

NVIDIA's program for TensorFlow 2 computes logits at masked positions alone and adds up gradients of
many passes. LLM.Q and LLaMA-Factory recompute, offload and fuse as their commands say. We read
code, tables and commands because their rows were furthest off.

A row that recomputes is held against no other in the rule against more than linear scaling.

Our own stack's times have tails of their own, not those of all software together, since 84 % of
them held with one cell out.

Three things were measured in traces and records, prompted by the thirty-four times of 24 November.
ZeRO's update on one GPU takes the host milliseconds a layer. Our own PyTorch takes cuDNN's
attention on Hopper. What plain convolutional networks do between their norms is a factor of its
own.

transformers writes out the mask of an encoder that is compiled whole, as it does for decoders. We
read it in its code after BERT compiled whole had taken 1.27 and 1.37 times as long as was said. The
half-width of encoders was 1.31 before and 1.19 after.

A multiprocessor fetches no more than 20 bytes a clock, however fast the memory is. Our pairs of
H100 and H200 showed it: with either out the other was told wrongly, by 12 and 6 %, and all that
waits for the memory gained too much from the H200's. The fit is likelier by 15, and with a GPU out
our own stack is 6 % off for 11.

The likelihood does not tell 18 bytes from 21. 20 are 1.28 times what an H100's memory has and 0.89
of an H200's, and by 20 the B200 is told better than by 18. The two limits are joined by their
fourth powers. By their squares the fit would be likelier by 6 more, but 74 % of the intervals would
hold with all Hopper out, for 81, and Table 1 be 10.6 % off with a GPU out, for 9.9.

The two factors of plain convolutional networks hold where no compiler writes their norms and
activations as one kernel. ResNets in half precision that were told a third too slow prompted it; it
is likelier by 7, and our own models of images are 11.3 % off in the mean for 11.9 with the model
out. But with ResNet-50 out its 85 rows are told 24 % too fast for 12: few other rows are left of
such networks that nobody compiled.

An update that is offloaded has launches too: DeiT-Tiny had been told to offload on an H100. No
likelihood asks for it (0.5). ZeRO-1 on one GPU needs 24 bytes a parameter during its update, since
three models of 7B ran out of memory on an H200 that were told to fit.

Sixteen profiles of models of images that were told wrongly taught three things
(docs/measurements.md). A compiler makes no copies of what an activation overwrites. A host keeps
the GPU waiting where a network of many layers is given small micro-batches. And 193 of timm's 709
models with attention, Swin among them, compute their scores themselves. The fit is likelier by 6,
and our own models of images are 10.2 % off in the mean for 11.2 with the model out.

A model stands for another of as many parameters only where library and precision are the same:
timm's ResNet-50 in half precision, told from the library's own in TF32, missed an interval of 7 %.

Beyond these we compared some twenty rules on these cuts before we kept those that stand, which
flatters the figures a little more.
"""

TRIED = """
Elementwise work issued by all 128 lanes of a multiprocessor less its integer instructions, as the
makers' white papers count lanes, instead of 64: with all PCIe out 16.9 % for 17.3, but 11.6 % for
8.8 with a GPU out of Table 1, and the RTX 4090's ratio 15 % off for 11.

Half way between the two for consumer and workstation chips: 16.3 % with PCIe out, 10.3 % with a GPU
out of Table 1. What is furthest off with PCIe out are images without compilation on RTX 3090s and
A6000s, and one program on RTX 4090s, whose kind of training then nothing is left of.

That the paper's search chose checkpointing with offloading where plain offloading fits by the
memory model and would be faster by ours (Pythia 6.9B on small GPUs, the worst of Table 1 with a
model out). Its clock, which sees all of an offloaded step, explains half of it. The rest neither
DeepSpeed's code nor the paper explains.

What somebody's program does to one kind of work, as an effect by the share that it takes of a step,
beside that on the exchange: elementwise work, all that waits for the memory, compute, each by
source, and the last two by GPU. None is likelier by much more than 4, where the one on the exchange
is by 9, and each tells rows of a source or of a GPU that was left out worse.

That other people's software shares its tails with our own, as it did before ours had some of their
own: with all PCIe out 83 % of the intervals hold for 81, at half-widths of 1.34 for 1.33. With a
source out, one GPU asked for eight, above 3B and with our own stack out as many hold as before. The
cuts of one cell, a model and a GPU were not computed so, and it is not in the fit that ships.

Of what the profiles show: TF32 as bad on Hopper alone (likelier by 2, but images are further off
with their model out), convolutions in TF32 slower by the same factor as products (less likely by
6), a vocabulary of no multiple of eight (not likelier), products that lose with the width of the
model (less likely by 4).

Of timm's models: that naive elementwise work and scores of images cost less in half precision than
those of text, as profiles of DeiT-S and BERT have it (less likely by 8, by 14 with a prior that
holds to the profiles), or elementwise work alone (by 2 to 3). Swin's copies of windows: by 0.4.

That what experts hand on costs nothing more than their FP32 products: less likely by 0.7.

Widths of their own for convolutional networks and vision transformers, for decoders and encoders,
or an effect of each GPU on models of images: none is likelier.

An effect of each generation on each family: likelier by 4. Our naive settings with a scatter of
their own: by 2.

Of the paper's clock, gradients exchanged after each pass, as its program does, since it steps after
every one: with data parallelism less likely by 9, with ZeRO-1 likelier by 0.7, for what waits in
the queue is not seen.

That it hides of the layers' work alone, and nothing of logits and update: likelier by 0.4 at most,
and Pythia 160M is further off.

That a ConvNeXt's matrix products are alike in all blocks, and only what follows its pixels is
hidden by stages: less likely by 1.2.

That recomputing hides a quarter less: likelier by 0.2. That sharded, uncompiled models do: by 0.9.
That DeepSpeed waits once a step in bf16 as well: by 0.6.
"""

NOT_TAKEN = """
Adapters are other work than training a model: the LoRA tables of Exxact, Surogate and litgpt.

Products in eight bits change what is learnt: NeMo 24.07, AMD's Primus, Megatron's Llama example,
the FP8 rows of LLM.Q and torchao.

A shape or a length is not printed: ForgeLM's models on a 4090, fine-tunings padded to the longest
sample of a batch (Hugging Face's T5 of 2022, mrdbourke, the Turing Institute, IBM's mixtures of
experts on the A100 in fms-acceleration).

The clock does not wait for the GPU: XHMY's.

A score or a time to quality is printed, from which a speed must be derived: GPU-Insights, MLPerf's
logs, whose BERT is packed besides.

The work of the model is not counted here: nnU-Net's.

An SSD is the limit: Phison's.

First runs on a card, and reports of a fault, whose makers went on to mend them: modded-nanogpt on
eight MI300X and SemiAnalysis's reports to AMD, of October 2024. GPT-2 took 4.8 and 2.2 times what
is said there, Llama 3.1 8B 1.2. Of PyTorch for ROCm of 2026 it is 1.3 (torch-mojo, which is taken).

Figures of one setting differ by half: miles's tables of the MI300X.

The edition of the card is not told: the Universal LLM Trainer's RTX PRO 6000 and H100, which take
1.7 to 3.2 times as long as is predicted.

The card's maker prints no peak: a 354M model on a GB10 (ai-field-notes), 12,119 to 13,626 tokens a
second in BF16.

Attention in windows and embeddings of values are not counted here: nanochat since January 2026,
autoresearch.

Documents are packed and their attended length is not told: Scicom's on the L40S, H200 and RTX 5090,
NeMo's fine-tuning.

Validation is within the time: Giles Thomas's eight B200.

Rented cards are slower than lesser ones of the same chip with the same script: runpod's RTX 6000
Ada and H100 NVL.

Not judged one by one: NVIDIA's examples other than BERT, RWKV's rows.

Of the sources that are taken, rows that scale more than linearly, or far less, print too few digits
or feed too few tokens a pass are left out by rule (`usable` in public_speeds.py). Each source's
program, bias and licence stand in evidence/sources.csv.
"""


def listed(text: str) -> str:
    """Items that stand apart by an empty line, as a list."""
    return "\n".join(f"- {' '.join(item.split())}" for item in text.split("\n\n"))
