"""What docs/prediction.md says in words of its own, whatever its figures are.

Items of a list stand apart by an empty line (`accuracy_lists.listed`).
"""

from __future__ import annotations

READING = """
Models and sources are left out several at a time, each whole; GPU types one by one. Everything that
touches what is left out is kept out of the fit: of the factors, the effects, the {widths} widths of
the effects and of the scatter, and the calibration of the intervals.

*Median*, *mean* and *90th percentile* are of the error. An error inside the rounding of a printed
day counts as none.

*Log bias* is the median logarithm of measured over predicted: above 0 where predictions are too
fast.

*In the 90 % interval* is the share of intervals that hold the measured time. *With the widths of
the whole* says how many would with the widths of the whole evidence.

The last three columns are the median errors of guesses that need no fit: the median MFU of the same
GPU in the rest of the evidence, the nearest row scaled by FLOPs and peak, and 40 % of the peak.

We chose some rules after we had seen the residuals of these very cuts, so the figures flatter by as
much. The rules are listed at the end.

*Likelier by 2* means that the logarithm of the marginal likelihood is larger by 2.
"""

BOUND = """
No prediction is faster than the highest share of what matrix products alone reach on a GPU that any
training in half precision was measured at in a framework such as PyTorch, whatever the GPU:
{share}.

Code written in C and CUDA for one kind of model reaches {native}, which bounds its own rows alone:
nothing else predicted here is such code.

The rate that products reach is the dense peak with FP32 accumulation, which makers halve on GeForce
cards, less what the power limit takes.

Where the fit says more, its middle is raised to the bound and the interval is wider by as much. It
never goes below the products' own time.

What is told of several GPUs has what they lose to each other on top of the bound; the folds below
do not. With a GPU left out its own times set no bound.
"""

ON_PCIE = """With all GPUs on PCIe left out predictions are off by {error}, most of them too
{side} (log bias {bias})."""

BETTER_GUESSES = """
MPT's times with all decoders out: what encoders and images say of decoders is too slow, and two
fifths of the peak happen to be what that program reaches.

Lambda's second table with a generation out: its H100 and H200 go. Its GH200 counts as another
generation and stays, the same program on what is a Hopper all but in name.

LLM.Q's: the nearest row is the same program with the same layers at another size, or with the same
model on a card of the same kind.

Table 1's on the A100: the paper's times there halve exactly from one to two GPUs, so that a scaled
neighbour is the printed day itself.
"""

SIMULATED = """The errors of a group are not independent. Where a GPU is left out, all of its times
share what nobody knows of that GPU, so that their intervals hold together or fail together. We
count what that does. The errors of all that is left out together are drawn {draws} times from what
the fit says of them at once, with intervals that hold in nine of ten draws by construction. What
distance from the evidence adds is no fit but a judgement: we take it as one error of a model and
one of a card, as a comparison of two machines does."""

ONLY_EXPECTED = """The sums above have no range, since the cuts share their times. Each cut has one,
as if what is left out at different times were independent. Where more or fewer intervals hold than
in nineteen draws of twenty, the table says that they are too wide or too narrow. By chance it would
say so of one or two cuts. With a whole family left out most of the width is for distance: were it
not shared, fewer groups would be expected outside, and more found further off than explained."""

ONE_SIDED = """A share of 100 % is only ten points from nine in ten. So this list finds intervals
that are too narrow rather than such that are too wide, which the table above tells."""

FEW_PAIRS = """The L40's ratio is one pair of one script on rented cards. One Quadro RTX 6000 is
told within 9 %, and six of its nine pairs are of two and four, in machines most of which have slow
links (below). None has a rule of its own. The V100 is told 12 % off beside the A100 in the middle
of thirty pairs, and within 4 % for BERT-large.

The RTX A4000 is told 13 to 23 % too slow for BERT, with micro-batches of an eighth to a fifth of
the A100's, and right for ResNet-50. The B200 is told 11 % too slow beside the H100: its
multiprocessors may fetch more a clock than an H100's, of which nothing is known here."""

BEYOND_GOAL = """
A GPU is told from another by its board: an H100 on PCIe is none that we measured, and nobody
trained under the half of the watts that an RTX PRO 6000 Max-Q has.

Beyond the goals lie the MI300X, of which nine times of three programs are known and none of ours (a
card of another maker is a distance of its own, by judgement), and at most eight predictions of any
other card: ViT-B/32 on the RTX 2080 Ti and others, a mixture of experts, over which torch loops on
most cards, and the largest Pythias.

A model of one's own has wider ones. On an H100 or H200 a decoder of a size that was measured, a
mixture of experts too, has a half-width of 1.14, an encoder-decoder 1.12, an encoder or a Mamba up
to 1.16, a model of images 1.22.

An interval that was cut to the goal there would promise more than the folds above show: with a
model left out no more than nine in ten of our own stack's hold.
"""

BY_MODEL = """
Mamba, ConvNeXt and ViT are alone of their families among the paper's models. With one of them left
out, what others and we measured of its family tells what it takes, and nothing how much of it the
paper's clock saw, which hides more of a ConvNeXt than of anything else.

As long as it was reckoned to hide as much of each block, ConvNeXt was 55 % off and ViT 25 %, and
14.9 % all of Table 1 with a model out. Since FP32 has factors of its own they are told too slow,
ConvNeXt by more. ViT was by 14 % until the multiprocessors counted that a gradient leaves idle:
what tells of it is ViT-B/16, whose weight gradients in TF32 fill 72 of 132 where ViT's own fill
128.

Of the decoders the two largest are furthest off, and slower than predicted, where they must offload
or shard on small GPUs: without them no time is left that tells what that costs. The others are near
the goal.

The worst of their cells are the RTX 3090's, several of which are more than its peak can do.
"""

LINKS = """
An exchange is reckoned as a ring. How much of an exchange shows is fitted.

Where GPUs reach each other's memory over PCIe each has 45 % of what the bus copies: 21.6 GB/s over
PCIe 5.0, where eight RTX PRO 6000 were measured at 21.4 and four at 22.6 to 23.7
(kenhanabusa/blackwell-power-limit-bench). By the same share it is 10.8 over PCIe 4.0, which nobody
measured among the evidence.

GeForce cards, which have no such access, are given a quarter: 6 GB/s over PCIe 4.0, 12 over 5.0.
One report of eight RTX 5090 on a server of two processors has 28 GB/s and of four 35 (NVIDIA/nccl,
issue 1639). Reports of eight RTX 4090 are of machines whose rate their owners found too low.

Bridges between two cards are bought apart, and none is assumed.

Beyond that machines of one card differ, and programs hide the exchange differently. That of two
thirds of them is between half and twice what is reckoned (a standard deviation of 0.60 of its
logarithm). It widens an interval by the share that the exchange takes of a step, wherever our own
stack has not run on several of these GPUs.

Lambda's, of the logarithm of the speed with the factors as fitted: two RTX 4090 lose 0.23 with
BERT-large, and lost 0.29; 0.07 with BERT-base, and lost 0.09. Two RTX 3090 lose 0.12 and 0.21 in
its two editions, and lost 0.16 and 0.22; three 0.31, and lost 0.20. Eight RTX 2080 Ti lose 0.46
with BERT-base, and lost 0.64.

LLM.Q's, in C++ and CUDA: four RTX 4090 lost 0.02 to 0.07 with the settings of one, where 0.09 to
0.12 are reckoned, and four RTX 5090 0.07 for 0.14.

Lambda's two and four Quadro RTX 6000 lost 0.45 and 0.66 where 0.25 and 0.42 are reckoned: they
exchanged as cards without access to each other's memory, for which it would be 0.49 and 0.73. Two
in another machine, with the same program, lost 0.18.
"""

LATER_TIMES = "times-that-were-taken-later"
"""Where the page has them."""
FORETOLD = {
    "22 November": (30, 23),
    "24 November": (34, 31),
    "26 November": (13, 9),
    "26 November, later": (27, 14),
    "26 November, of other kinds": (20, 8),
    "26 November, on the fit of that evening": (11, 9),
    "26 November, on what became of it": (5, 2),
    "26 November, of models of many kinds": (35, 19),
    "26 November, of models that people train": (35, 32),
    "26 November, of images alone": (12, 4),
}
"""Of our own times of a day: how many, and how many were in the intervals of the fit before."""

LATER = """The hardest test: times that were taken after a fit was made. *As it was* is that fit
with the program of its day. *Without them* is a fit with today's rules and physics from which they
are left out together (`python -m tools.fit.later_times DAY`)."""

LATER_TABLE = """
| times | fit | typical error | intervals that hold | |
|---|---|---|---|---|
| ours from 26 November: 171, of 93 models that nobody had timed and of eight others | without \
them | 8.4 % | 78 % | timm's ResNeXt, Wide ResNet-50 and ConvNeXt V2 and an uncompiled mixture of \
experts are 40 % off |
| the last 12 of them, of nine of timm's models on an H100, four of these naive | as it was \
| 18 % | 33 % | Swin V2 naive, MobileNetV3-S and LeViT take 1.3 to 1.4 times what is said, \
ConvNeXt V2 and ResNet-50 0.8 |
| 35 before those, of 23 models, 23 on an H200 and 12 on an H100, six of these naive | as it \
was | 6.8 % | 91 % | 18 of text with the settings that we write out 2.8 %, all inside; 11 of \
images 13 %, 8 inside: ResNet-152 takes 0.75 and 0.8 of what is said, Swin-S 1.36 |
| 35 earlier ones, of as many models, 23 of text, with the settings that we write out | as it was \
| 13 % | 54 % | of text 10 % and 13 of 23, of images 15 % and 6 of 12: dropout, masks that are \
written out and plain convolutional networks in half precision; VGG-16 takes three times what is \
said |
| 11 of them: six of mixtures of experts and T5 on an H200, five of timm's models compiled whole | \
as it was | 1.8 % | 82 % | 0.1 to 5.3 % off on the H200; MobileNetV3 and EfficientNet-B0 take 0.78 \
and 0.76 of what is said |
| 5 later ones, of three further models of timm's and of two at micro-batch 512 | as it was \
| 10 % | 40 % | it knew batch norms by then; two are 1 and 2 % beyond their intervals, and \
EfficientNetV2-S takes 0.8 of what is said |
| 20 of them, of four mixtures of experts, two T5 and seven of timm's models | as it was \
| 36 % | 40 % | experts under autocast take up to 6.5 times what is said, T5 1.9, MobileNetV3 2, \
timm's ViT half: docs/measurements.md has each |
| four of these 20, of two mixtures and T5 large | with the first eight and what their profiles \
taught | 2 to 20 % | all | |
| 27 of that day, of 13 models | as it was | 19 % | 52 % | images, Pythia 14M and \
31M, RoBERTa base without the fused loss: docs/measurements.md has each |
| the same, images alone: 14 | with what profiles of other models then taught, and none of these \
times | 8.6 % (before: 21 %) | 64 % | their intervals were too narrow by then, and have been \
calibrated since |
| the first 13, of eight of the ten models below, naive and the paper's settings | as it was \
| 4.1 % | 69 % | BERT compiled whole takes 1.27 and 1.37 times what is said |
| ours from 24 November: 107, of 35 models that nobody had timed and of others | without them \
| 8.2 % | 82 % | few of our own models are left, two of them of images |
| the 34 of 24 November alone | as it was | 8.5 % | 91 % | docs/measurements.md has each |
| ours from 22 November: 150 | without them | 6.7 % | 87 % | half are with settings beyond the \
paper's, of which no time of our own is left then |
| the 30 of 22 November alone | as it was | 6.6 % | 77 % | RoBERTa's up to 23 % off |
| the same less seven slower trials, which nobody is told | as it was | 8.2 % | 70 % | |
| four public rows, read on 25 November: two of an RTX 4090, two of eight B200 | as it was, their \
programs unknown | 3, 23, 40 and 40 % | 2 of 4 | each was faster than said |
| 14 public rows, read on 26 November: 11 of one or eight MI300X, two of the H100, one of an RTX \
5090 | as it was, their programs unknown | 25 % | 11 of 14 | the MI300X takes 1.2 to 1.4 times \
what is said, and 2.2 and 4.8 times in two first runs of 2024, which stay out of the fit; the RTX \
5090 takes 0.74 |
| 125 rows of Lambda's logs, most of them of 2020 to 2022 | as it was, the program unknown | 9.2 % \
| 96 % | with the program known 5.0 % and 92 %, though 47 rows of it had other micro-batches then |
| six rows of a script of which the fit knows ten other cards (B200, L40S, L4, three Ampere \
workstation cards) | that of 25 November: they stay out of the fit for this test | 8.1 % | all | |
"""
