"""What docs/prediction.md says in words of its own, whatever its figures are."""

from __future__ import annotations

CHOSEN = """We chose some rules after we had seen the residuals of these very cuts, so the figures
below flatter by as much. They are these. Chips with half the load units a multiprocessor feed the
taps of depthwise convolutions half as fast: the units are from the makers' white papers, ConvNeXt's
residuals prompted their use. The paper's times that needed offloading have a scatter of their own,
by a rule of bytes. The paper's clock hides a number of kernels, and so of layers: more of a
ConvNeXt, counted before anything is fitted (20 kernels a block against 38 a layer of a
transformer), and more in FP32, which casts nothing (uncompiled, a ViT's layer launches 30 kernels
backward for 48). They are the last of a pass, the first blocks of a ConvNeXt, which take longest.
fp16's loss scaler waits for them, and that wait is timed once a step. This was read in the paper's
program when ConvNeXt and ViT were furthest off with their model out: with the blocks and the scaler
the fit is likelier by 2 without a factor more, and what it asks of a ConvNeXt is 1.3 times the
count where it was 1.9; the factor of FP32 makes that 1.1, the fit less likely by 0.6, and is kept
since it was counted, and since ViT is told by it. It sees all of a step whose update is offloaded,
since the host waits for the last gradients, and the paper's searches took what that clock saw as
fastest: of four readings (nothing, offloading, checkpointing too, everything of DeepSpeed's) the
marginal likelihood prefers this one, by 14 over nothing and by 17 over the last. Other people's
code has a scatter from model to model. Settings beyond the paper's are apart for decoders and the
rest; they count as a method of their own in the effects of a stack, and what they gain in
elementwise work may move as freely as without them (0.4, not 0.2): prompted by the cut of our own
later times, likelier by 2. Machines of one card are wired differently, which moves the exchange
alone, in place of an effect of several GPUs of a card on a bus whatever they exchange: likelier by
9, and of seven ways to write it the likeliest but for rounding. No bridge joins two cards on a bus:
likelier by 4. For a new model in somebody's program the widths are calibrated: we leave groups of
what the fit saw out and count what is inside, with one group's worth of trust in the widths as they
are. For a new GPU and a new program we do not count: the widths follow from the likelihood of the
groups left out and the prior that all widths have. Counted, they held 83 % with all GPUs on PCIe
out, for seven types of GPU say little about how many of their times are inside. With no calibration
of the two at all 92 % would hold there, and all of our own stack's with a GPU out. NVIDIA's program
for TensorFlow 2 computes logits at masked positions alone and adds up gradients of many passes, and
LLM.Q and LLaMA-Factory recompute, offload and fuse as their commands say: we read code, tables and
commands because their rows were furthest off. A row that recomputes is held against no other in the
rule against more than linear scaling. Our own stack's times have tails of their own, not those of
all software together, since 84 % of them held with one cell out. ZeRO's update on one GPU takes the
host milliseconds a layer, our own PyTorch takes cuDNN's attention on Hopper, and what plain
convolutional networks do between their norms is a factor of its own: measured in traces and
records, prompted by the thirty-four times of 24 November. Beyond these we compared some twenty
rules on these cuts before we kept those that stand, which flatters the figures a little more."""

FEW_PAIRS = """The cards beyond the goal have little evidence. The L40's ratio is one pair of one
script on rented cards, the Quadro RTX 6000's three of one model, two of which are of machines with
slow links (below). One time that is off moves such a median. We made no rule for one of them alone,
because nothing else could check it."""

BETTER_GUESSES = """Why, for the groups that are furthest behind. MPT's times with all decoders out:
what encoders and images say of decoders is too slow, and two fifths of the peak happen to be what
that program reaches. Lambda's second table with a generation out: its H100 and H200 go, its GH200
counts as another generation and stays, the same program on what is a Hopper all but in name.
LLM.Q's: the nearest row is the same program with the same layers at another size, or with the same
model on a card of the same kind. Table 1's on the A100: the paper's times there halve exactly from
one to two GPUs, so that a scaled neighbour is the printed day itself. timm's on one RTX 3090 with
all PCIe out: no training without compilation and with small images is left in the evidence."""

BOUND = """No prediction is faster than the highest share of what matrix products alone reach on a
GPU that any training in half precision was measured at in a framework such as PyTorch, whatever the
GPU: {share}. Code written in C and CUDA for one kind of model reaches {native}, which
bounds its own rows alone: nothing else predicted here is such code. The rate that products reach is
the dense peak with FP32 accumulation, which makers halve on GeForce cards, less what the power
limit takes. Where the fit says more, its middle is raised to the bound and the interval is wider by
as much; below the products' own time it never goes. What is told of several GPUs has what they lose
to each other on top of the bound, the folds below do not. With a GPU left out its own times set no
bound."""

BEYOND_GOAL = """Beyond the goals lie, of models that somebody measured, the H100 NVL in a few
cases, the MI300X, of which one time is known and none of ours, and the RTX PRO 6000 Max-Q, whose
half of the watts nobody trained under. The rest are models that nobody measured: two ConvNeXts and
Pythia 14M, 31M and 12B. An interval that was cut to the goal there would promise more than the
folds above show: with a model left out some nine in ten of our own stack's hold, not more."""

BY_MODEL = """Mamba, ConvNeXt and ViT are alone of their families among the paper's models. With one
of them left out, what others and we measured of its family tells what it takes, and nothing how
much of it the paper's clock saw, which hides more of a ConvNeXt than of anything else. As long as
it was reckoned to hide as much of each block, ConvNeXt was 55 % off and ViT 25 %, and 14.9 % all of
Table 1 with a model out; Mamba is too slow by about as much as before. Of the decoders the two
largest are furthest off, and slower than predicted, where they must offload or shard on small GPUs:
without them no time is left that tells what that costs. The others are near the goal. The worst of
their cells are the RTX 3090's, several of which are more than its peak can do."""

LINKS = """An exchange is reckoned as a ring. Where GPUs reach each other's memory over PCIe each
has 45 % of what the bus copies: 21.6 GB/s over PCIe 5.0, where eight RTX PRO 6000 were measured
at 21.4 and four at 22.6 to 23.7 (kenhanabusa/blackwell-power-limit-bench), and 10.8 over PCIe
4.0 by the same share, which nobody measured among the evidence. GeForce cards, which have no
such access, are given a quarter: 6 GB/s over PCIe 4.0, 12 over 5.0. Bridges between two cards
are bought apart, and none is assumed. One report of eight RTX 5090 on a server of two processors
has 28 GB/s and of four 35 (NVIDIA/nccl, issue 1639); reports of eight RTX 4090 are of machines
whose rate their owners found too low. How much of an exchange shows is fitted. Beyond that
machines of one card differ, and programs hide it differently: the exchange of two thirds of them
is between half and twice what is reckoned (a standard deviation of 0.69 of its logarithm), which
widens an interval by the share that the exchange takes of a step, wherever our own stack has not
run on several of these GPUs. With the factors as fitted, two RTX 4090 lose 0.29 of the logarithm
of their speed in Lambda's BERT-large, and lost 0.29; 0.09 in its BERT-base, and lost 0.09; two
RTX 3090 lose 0.16, and lost 0.16 and 0.21 in its two editions; three, 0.23, and lost 0.20.
LLM.Q's four RTX 4090, in C++ and CUDA, lost 0.02 to 0.07 with the settings of one, where 0.10 to
0.13 are reckoned, and its four RTX 5090 0.07 for 0.14. Lambda's two and four Quadro RTX 6000
lost 0.44 and 0.64 where 0.19 and 0.31 are reckoned: they exchanged as cards without access to
each other's memory, for which it would be 0.38 and 0.61."""

TRIED = """Tried for these cuts and not taken, since what one gained another lost (with the widths
of the whole). Elementwise work issued by all 128 lanes of a multiprocessor less its integer
instructions, as the makers' white papers count lanes, instead of 64: with all PCIe out 16.9 % for
17.3, but 11.6 % for 8.8 with a GPU out of Table 1 and the RTX 4090's ratio 15 % off for 11. Half
way between the two for consumer and workstation chips: 16.3 % with PCIe out, 10.3 % with a GPU out
of Table 1. What is furthest off with PCIe out are images without compilation on RTX 3090s and
A6000s, and one program on RTX 4090s, whose kind of training then nothing is left of. That the
paper's search chose checkpointing with offloading where plain offloading fits by the memory model
and would be faster by ours (Pythia 6.9B on small GPUs, the worst of Table 1 with a model out) is
half explained by its clock, which sees all of an offloaded step; the rest neither DeepSpeed's code
nor the paper explains. What somebody's program does to one kind of work, as an effect by the share
that it takes of a step, beside that on the exchange: elementwise work, all that waits for the
memory, compute, each by source, and the last two by GPU. None is likelier by much more than 4,
where the one on the exchange is by 9, and each tells rows of a source or of a GPU that was left out
worse. That other people's software shares its tails with our own, as it did before ours had some of
their own: with all PCIe out 83 % of the intervals hold for 81, at half-widths of 1.34 for 1.33, and
with a source out, one GPU asked for eight, above 3B and with our own stack out as many as before.
The cuts of one cell, a model and a GPU were not computed so, and it is not in the fit that ships.
Of the paper's clock (the logarithm of the marginal likelihood): gradients exchanged after each
pass, as its program does, since it steps after every one: with data parallelism less likely by 9,
with ZeRO-1 likelier by 0.7, for what waits in the queue is not seen. That it hides of the layers'
work alone, and nothing of logits and update: likelier by 0.4 at most, and Pythia 160M is further
off. That a ConvNeXt's matrix products are alike in all blocks, and only what follows its pixels is
hidden by stages: less likely by 1.2. That recomputing hides a quarter less: likelier by 0.2; that
sharded, uncompiled models do: by 0.9; that DeepSpeed waits once a step in bf16 as well: by 0.6."""

MISSED = """Goals that are missed, and why. NVIDIA's DGX Cloud: two of six rows are outside, and all
were before somebody else's run of the same program was known: what a maker tuned is a third faster
than programs that people write. Half-widths of models that nobody measured, on a GPU that our stack
ran on (1.15): a decoder of a size that was measured 1.14, an encoder or a Mamba 1.19, a model of
images 1.24. These have a width of their own since models of images proved two and a half times as
far from what physics says of them as models of text; with one width for both 69 % of the
convolutional networks' times were inside with their model left out. It is likelier by 7 in the
logarithm. Not taken: convolutional networks and vision transformers apart, decoders and encoders
apart, an effect of each GPU on models of images, none of which is likelier; an effect of each
generation on each family, likelier by 4; our naive settings with a scatter of their own, by 2.
Encoders were told 1.31 when BERT compiled whole was first timed, 1.27 and 1.37 times as long as was
said, and 1.19 since the mask that transformers then writes out is reckoned with, as it was for
decoders: read in its code. With all GPUs on PCIe out they are told 17 % too slow, 19 % off: 15 %
while a ResNet-50 compiled layer by layer, which takes 1.39 times as long, stood for the best of an
H100."""

LATER = """Our own times from a day on, left out together (`python -m
advisor.prediction.fit.later_times DAY`; rules and physics are today's). From 26 November: 13 times
of eight of them with naive and the paper's settings, 6.2 % off, 69 % inside; BERT compiled whole
takes 1.27 and 1.37 times what is said. Against the fit as it was before them, with the program of
that day: 4.1 % off, 69 % inside. From 24 November: 46 times, of ten models that nobody had timed
and of four others, 7.8 % off, 80 % inside; a ResNet-50 with naive settings took less than half of
what was said. The 34 of that day alone against the fit as it was before them, with its program: 8.5
% off, 91 % inside (docs/measurements.md has each). From 22 November: 89 times, 6.1 % off, 85 %
inside; half are with settings beyond the paper's, of which no time of our own is left then. The
thirty times of 22 November against the fit as it was made before them, with the program of that
day: 6.6 % off, 77 % inside, RoBERTa's up to 23 %; without seven slower trials, which nobody is
told, 8.2 % off and 70 % inside. Four public rows that were read on 25 November (two of an RTX 4090,
two of eight B200), against the fit as it was before them, with their programs unknown: 3, 23, 40
and 40 % off, 2 of 4 inside, each faster than was said. Six rows of a script of which the fit knows
ten other cards (B200, L40S, L4, three Ampere workstation cards) stay out of it, so that such a test
remains: 8.1 % off, all inside."""

NOT_TAKEN = """Public tables that were read and are not among the evidence, and why. Adapters are
other work than training a model: the LoRA tables of Exxact, Surogate and litgpt. Products in eight
bits change what is learnt: NeMo 24.07, AMD's Primus, Megatron's Llama example, the FP8 rows of
LLM.Q and torchao. A shape or a length that is not printed: ForgeLM's models on a 4090, fine-tunings
padded to the longest sample of a batch (Hugging Face's T5 of 2022, mrdbourke, the Turing
Institute). A clock that does not wait for the GPU: XHMY's. A score or a time to quality, from which
a speed must be derived: GPU-Insights, MLPerf's logs, whose BERT is packed besides. A model whose
work is not counted here: nnU-Net's. An SSD as the limit: Phison's. An edition of the card that is
not told: the Universal LLM Trainer's RTX PRO 6000 and H100, which take 1.7 to 3.2 times as long as
is predicted. A peak that the card's maker does not print: a 354M model on a GB10 (ai-field-notes),
12,119 to 13,626 tokens a second in BF16. Attention in windows and embeddings of values, which are
not counted here: nanochat since January 2026, autoresearch. Packed documents whose attended length
is not told: Scicom's on the L40S, H200 and RTX 5090, NeMo's fine-tuning. Validation within the
time: Giles Thomas's eight B200. Rented cards that are slower than lesser ones of the same chip with
the same script: runpod's RTX 6000 Ada and H100 NVL. Not judged one by one: NVIDIA's examples other
than BERT, RWKV's rows. Of the sources that are taken, rows that scale more than linearly, or far
less, print too few digits or feed too few tokens a pass are left out by rule (`usable` in
observations.py); each source's program, bias and licence stand in evidence/sources.csv."""
