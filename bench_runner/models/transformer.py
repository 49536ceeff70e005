"""One description of a transformer of tokens: decoders, encoders and mixtures of experts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench_runner.models.architecture import (
    Architecture,
    ModelCount,
    causal_half,
    linear,
    undivided,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer(Architecture):
    """Layers of attention and a feed-forward network, or several networks to choose from.

    The table says which of these a model's file names and which are always so. FLOPs are those of
    Kaplan et al. 2020, section 2.1, with attention as in Chowdhery et al. 2022, appendix B.
    """

    choices: ClassVar = {
        "position_embedding_type": ("absolute", "rotary"),
        "projection": ("", "widened", "always", "both_ways"),
        "qk_norm": ("", "head", "heads"),
    }
    least: ClassVar = dict.fromkeys(
        (
            *("shared_experts", "shared_intermediate_size", "dense_layers"),
            *("q_lora_rank", "type_vocab_size", "norms_in_parallel", "padding_token"),
        ),
        0,
    )
    nullable: ClassVar = frozenset(
        (
            *("num_key_value_heads", "head_dim", "intermediate_size", "embedding_size"),
            *("norms_in_parallel", "q_lora_rank", "shared_experts", "dense_layers"),
        )
    )

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int = 0
    """0: as many as there are heads."""
    head_dim: int = 0
    """0: what each head has of the hidden size."""
    intermediate_size: int = 0
    """0: four times the hidden size."""
    vocab_size: int
    tie_word_embeddings: bool = True
    """Whether the output layer has the input's table."""

    causal: bool = True
    gated: bool = False
    """Whether the feed-forward layer has a gate: three products instead of two."""
    heads_divide_width: bool = False
    """Whether the library refuses heads that do not share the hidden size evenly."""
    heads_round_down: bool = False
    """Whether the library trains with what is left over of a width that its heads do not share."""
    heads_make_width: bool = False
    """Whether the heads together have as many elements as the hidden size, always."""
    always_four: bool = False
    """Whether the library makes the inner size four times the hidden one, whatever a file says."""
    multi_query: bool = False
    """Whether all heads share one of keys and values ..."""
    new_decoder_architecture: bool = True
    """... where this is false (Falcon); the number of shared heads then counts for nothing."""
    rotary_dim: int = 0
    """Elements of a head that positions turn; 0: not to be checked."""

    qkv_bias: bool = False
    attention_out_bias: bool = False
    mlp_bias: bool = False
    output_bias: bool = False
    norm_scale: bool = True
    norm_bias: bool = False
    norms: int = 2
    """Of the hidden size, a layer."""
    post_norms: bool = False
    """Two more, behind each block."""
    parallel: bool = False
    """Whether attention and feed-forward network have one norm together ..."""
    norms_in_parallel: int = 1
    """... or two; 0: two in Falcon's new architecture."""
    qk_norm: str = ""
    """Norms of queries and keys: one for all heads (``head``), or each head its own (``heads``)."""
    use_qk_norm: bool = True
    qk_norm_bias: bool = False
    sinks: bool = False
    """Whether each head has a learnt score of nothing."""
    activation_weights: int = 0
    """Weights of a layer's activation."""
    do_layer_norm_before: bool = True
    without_last_norm: bool = False
    embedding_norm: bool = False

    positions: int = 0
    """Rows of a table of learnt positions; 0: none."""
    extra_positions: int = 0
    """Rows of it that a file does not count."""
    padding_token: int = -1
    """Positions are counted from behind this number, and rows before that have no token."""
    positions_learnt: bool = True
    position_embedding_type: str = "absolute"
    relative_positions: int = 0
    """Buckets of a learnt bias by distance, which all layers share."""
    type_vocab_size: int = 0
    """Rows of the table that tells a first sentence from a second."""
    task_type_vocab_size: int = 0
    use_task_id: bool = False
    embedding_size: int = 0
    """Elements of a token in the tables; 0: the hidden size."""
    projection: str = ""
    """What leads from these to the hidden size: a layer where they differ (``widened``), or
    ``always``, or one without biases on either side (``both_ways``)."""
    layer_groups: int = 0
    """Groups of layers that have the same weights; 0: each has its own."""
    inner_group_num: int = 1

    output_transform: bool = False
    """Whether a layer and a norm lie before the output layer."""
    transform_bias: bool = True
    untied_biases: int = 1
    """Biases of the output where it does not have the input's table."""
    contact_head: bool = False
    """Weights that tell contacts from attention (ESM), and are not trained on words."""

    local_attention: int = 0
    """Tokens of the window that most layers look at; 0: all."""
    global_every: int = 1
    """Each how many layers look at the whole sample."""
    alibi: bool = False
    wide_scores: bool = False
    """Whether queries and keys are cast to FP32 before their scores."""
    half_dropout: bool = False
    """Whether one dropout a layer, not two, follows hidden elements."""
    embeddings_dropped: bool = True

    num_experts: int = 0
    """Feed-forward networks of a layer to choose from; 0: one for all."""
    num_experts_per_tok: int = 1
    moe_intermediate_size: int = 0
    """Inner elements of each; 0: the intermediate size."""
    shared_experts: int = 0
    """Networks of an expert's size that every token uses too ..."""
    shared_intermediate_size: int = 0
    """... or the inner elements of one."""
    shared_gate: bool = False
    """Whether a scalar weighs what is shared."""
    router_bias: bool = False
    expert_bias: bool = False
    dense_layers: int = 0
    """First layers with one network of the intermediate size ..."""
    sparse_step: int = 1
    """... or all layers but each second, third and so on, ..."""
    mlp_only_layers: tuple[int, ...] = ()
    """... or these."""
    n_group: int = 0
    """Groups of experts, of which the router chooses some; 0: it does not."""
    topk_group: int = 0

    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    """Elements of the narrow layer that keys and values pass through (MLA); 0: there is none."""
    qk_nope_head_dim: int = 0
    qk_rope_head_dim: int = 0
    v_head_dim: int = 0

    def __post_init__(self) -> None:
        if not self.new_decoder_architecture:
            shared = 1 if self.multi_query else self.num_attention_heads
            object.__setattr__(self, "num_key_value_heads", shared)
        self.derive("num_key_value_heads", self.num_attention_heads)
        self.derive("head_dim", max(1, self.hidden_size // self.num_attention_heads))
        self.derive("intermediate_size", 4 * self.hidden_size)
        self.derive("embedding_size", self.hidden_size)
        if self.num_experts:
            self.derive("moe_intermediate_size", self.intermediate_size)

    @property
    def longest(self) -> int | None:
        if not self.positions or not self.holds_positions:
            return None
        return self.positions - (self.padding_token + 1)

    @property
    def holds_positions(self) -> bool:
        """Whether there is a table of positions, where a file says how many there are."""
        return self.positions_learnt and self.position_embedding_type == "absolute"

    @property
    def query_size(self) -> int:
        """Elements of one head's query and key."""
        if self.kv_lora_rank:
            return self.qk_nope_head_dim + self.qk_rope_head_dim
        return self.head_dim

    @property
    def value_size(self) -> int:
        """Elements of one head's value."""
        return self.v_head_dim if self.kv_lora_rank else self.head_dim

    @property
    def dense(self) -> int:
        """Layers with one feed-forward network."""
        if not self.num_experts:
            return self.num_hidden_layers
        step, only = self.sparse_step, set(self.mlp_only_layers)
        return sum(
            n < self.dense_layers or n in only or bool((n + 1) % step)
            for n in range(self.num_hidden_layers)
        )

    @property
    def shared_size(self) -> int:
        """Inner elements that every token uses besides its experts."""
        return self.shared_experts * self.moe_intermediate_size + self.shared_intermediate_size

    @property
    def global_layers(self) -> int:
        """Layers that look at the whole sample."""
        return -(-self.num_hidden_layers // self.global_every)

    def contradiction(self) -> tuple[str, str] | None:
        heads, shared, hidden = self.num_attention_heads, self.num_key_value_heads, self.hidden_size
        # A head whose size is not given has its share of the width: what is left over has no head.
        derived = not self.kv_lora_rank and self.head_dim == max(1, hidden // heads)
        derived &= not self.heads_round_down
        divide = self.heads_divide_width or derived or heads > hidden
        if divide and (wrong := undivided("num_attention_heads", heads, hidden)):
            return wrong
        if shared > heads:
            return "num_key_value_heads", f"is {shared}, more than the {heads} heads"
        if heads % shared:
            return "num_key_value_heads", f"is {shared}, which does not divide {heads}"
        if self.heads_make_width and heads * self.head_dim != hidden:
            why = f"is {self.head_dim}, which times {heads} heads is not the hidden size {hidden}"
            return "head_dim", why
        if self.always_four and self.intermediate_size != 4 * hidden:
            why = f"is {self.intermediate_size}, but the library always builds 4 x {hidden}"
            return "intermediate_size", why
        if self.rotary_dim > self.head_dim:
            why = f"is {self.rotary_dim}, more than the {self.head_dim} elements of a head"
            return "rotary_dim", why
        if self.padding_token >= self.vocab_size:
            why = f"is {self.padding_token}, none of the vocabulary's {self.vocab_size} tokens"
            return "padding_token", why
        if self.position_embedding_type == "rotary" and self.head_dim % 2:
            why = f"leaves heads of {self.head_dim} elements, and turned positions need even ones"
            return "num_attention_heads", why
        if self.layer_groups > self.num_hidden_layers:
            why = f"is {self.layer_groups}, more than the {self.num_hidden_layers} layers"
            return "layer_groups", why
        if self.inner_group_num != 1:
            return "inner_group_num", (
                f"is {self.inner_group_num}, and layers repeated within their group are not "
                "counted; write more num_hidden_layers"
            )
        return self._wrong_experts() if self.num_experts else None

    def _wrong_experts(self) -> tuple[str, str] | None:
        """The router of DeepSeek-V3 chooses groups by their two best experts, and experts from
        these groups."""
        experts, chosen, groups = self.num_experts, self.num_experts_per_tok, self.n_group
        if groups:
            each, rest = divmod(experts, groups)
            if rest or each < 2:
                why = f"is {experts}, which {groups} groups of two or more do not share evenly"
                return "num_experts", why
            if self.topk_group > groups:
                return "topk_group", f"is {self.topk_group}, more than the {groups} groups"
            if chosen > (most := self.topk_group * each):
                why = f"is {chosen}, more than the {most} experts of the groups that are chosen"
                return "num_experts_per_tok", why
        if chosen > experts:
            return "num_experts_per_tok", f"is {chosen}, more than the {experts} experts"
        return None

    def count(self, length: int) -> ModelCount:
        """The output layer reads every position: the code that is timed does so, too, though a
        masked language model could do with the masked ones."""
        hidden, layers, narrow = self.hidden_size, self.num_hidden_layers, self.embedding_size
        norm = hidden * (self.norm_scale + self.norm_bias)
        held, products = self._attention()
        networks, used, unused = self._networks()
        if self.parallel:
            two = self.norms_in_parallel == 2
            two |= self.norms_in_parallel == 0 and self.new_decoder_architecture
            norms = 2 if two else 1
        else:
            norms = self.norms + 2 * self.post_norms
        layer = held + norms * norm + self.activation_weights
        own_layers = self.layer_groups or layers
        tables = 1 if self.tie_word_embeddings else 2
        rows = self.type_vocab_size + (self.task_type_vocab_size if self.use_task_id else 0)
        place = hidden if self.projection == "both_ways" else narrow
        if self.positions and self.holds_positions:
            rows += self.positions + self.extra_positions
        last = self.do_layer_norm_before and not self.without_last_norm
        parameters = (
            tables * self.vocab_size * narrow
            + rows * place
            + self.relative_positions * self.num_attention_heads
            + self.embedding_norm * narrow * (self.norm_scale + self.norm_bias)
            + own_layers * layer
            + (networks if own_layers == layers else networks // layers * own_layers)
            + last * norm
        )
        weights = layers * products + used
        if self.projection == "both_ways" and narrow != hidden:
            parameters += 2 * hidden * narrow
            weights += 2 * hidden * narrow
        elif self.projection == "always" or (self.projection == "widened" and narrow != hidden):
            parameters += linear(narrow, hidden)
            weights += narrow * hidden
        if self.output_transform:
            parameters += linear(hidden, narrow, bias=self.transform_bias)
            parameters += narrow * (self.norm_scale + self.norm_bias)
            weights += hidden * narrow
        if self.output_bias:
            parameters += self.vocab_size * (1 if tables == 1 else self.untied_biases)
        if self.contact_head:
            parameters += linear(layers * self.num_attention_heads, 1)
        scored = self.num_attention_heads * (self.query_size + self.value_size)
        square = layers * 2 * length**2 * scored
        lowest = square
        if self.local_attention:
            window = min(length, self.local_attention + 1)
            seen = self.global_layers * length + (layers - self.global_layers) * window
            lowest = 2 * length * seen * scored
        return ModelCount(
            parameters=parameters,
            unused=unused,
            matmul=2 * length * (weights + narrow * self.vocab_size),
            attention_full=square,
            attention_lowest=causal_half(lowest) if self.causal else lowest,
        )

    def _attention(self) -> tuple[int, int]:
        """Parameters and weights of products of a layer's attention."""
        hidden, heads, size = self.hidden_size, self.num_attention_heads, self.head_dim
        if self.kv_lora_rank:
            return self._latent_attention()
        inner, shared = heads * size, self.num_key_value_heads * size
        weights = 2 * hidden * (inner + shared)
        held = weights + (inner + 2 * shared if self.qkv_bias else 0)
        held += hidden if self.attention_out_bias else 0
        held += heads if self.sinks else 0
        if self.qk_norm and self.use_qk_norm:
            each = 2 * size if self.qk_norm == "head" else inner + shared
            held += each * (1 + self.qk_norm_bias)
        return held, weights

    def _latent_attention(self) -> tuple[int, int]:
        """The same of multi-head latent attention (DeepSeek-AI 2024, section 2.1)."""
        hidden, heads = self.hidden_size, self.num_attention_heads
        queries, narrow, keys = heads * self.query_size, self.q_lora_rank, self.kv_lora_rank
        weights = hidden * narrow + narrow * queries if narrow else hidden * queries
        weights += hidden * (keys + self.qk_rope_head_dim)
        weights += keys * heads * (self.qk_nope_head_dim + self.v_head_dim)
        weights += heads * self.v_head_dim * hidden
        held = weights + narrow + keys  # norms
        if self.attention_out_bias:
            held += narrow + keys + self.qk_rope_head_dim + hidden
        return held, weights

    def _networks(self) -> tuple[int, int, int]:
        """Of all layers' feed-forward networks: parameters, weights that a token's products use,
        and parameters that it does not pass through."""
        hidden, inner, dense = self.hidden_size, self.intermediate_size, self.dense
        wide = 2 if self.gated else 1  # products into the inner size
        biases = wide * inner + hidden if self.mlp_bias else 0
        held = dense * ((wide + 1) * hidden * inner + biases)
        used = dense * (wide + 1) * hidden * inner
        if not self.num_experts:
            return held, used, 0
        sparse, experts = self.num_hidden_layers - dense, self.num_experts
        one = (wide + 1) * hidden * self.moe_intermediate_size
        bias = wide * self.moe_intermediate_size + hidden if self.expert_bias else 0
        always = (wide + 1) * hidden * self.shared_size + hidden * experts  # and the router
        always += hidden if self.shared_gate else 0
        held += sparse * (always + experts * (one + bias) + self.router_bias * experts)
        used += sparse * (always + self.num_experts_per_tok * one)
        return held, used, sparse * (experts - self.num_experts_per_tok) * (one + bias)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deberta(Transformer):
    """Encoder of He et al. 2021: queries meet keys' relative positions, keys those of queries.

    What projects the positions is computed once for all samples of a pass and not counted.
    """

    choices: ClassVar = {
        "pos_att_type": ("", "c2p", "p2c", "c2p|p2c", "p2c|c2p"),
        "norm_rel_ebd": ("none", "layer_norm"),
    }
    least: ClassVar = {"type_vocab_size": 0, "conv_kernel_size": 0} | dict.fromkeys(
        ("max_relative_positions", "position_buckets"), -1
    )
    second: bool = False
    """Whether it is the second version, or the third."""
    relative_attention: bool = False
    max_relative_positions: int = -1
    pos_att_type: str = ""
    """Products with positions: of contents with positions (c2p) and the reverse (p2c)."""
    position_buckets: int = -1
    share_att_key: bool = False
    norm_rel_ebd: str = "none"
    conv_kernel_size: int = 0

    @property
    def kinds_of_position(self) -> int:
        """How many of the two products with positions there are."""
        kinds = self.pos_att_type.split("|") if self.pos_att_type else []
        return len(kinds) if self.relative_attention else 0

    @property
    def distances(self) -> int:
        """Distances that are told apart, either way."""
        if self.second and self.position_buckets > 0:
            return self.position_buckets
        most = self.max_relative_positions
        return self.positions if most < 1 else most

    def count(self, length: int) -> ModelCount:
        plain = super(Deberta, self).count(length)
        hidden, layers = self.hidden_size, self.num_hidden_layers
        parameters, convolution, kinds = plain.parameters, 0, self.pos_att_type.split("|")
        if not self.second:
            parameters -= layers * hidden  # queries and values alone have biases
        if self.relative_attention:
            if not self.share_att_key:
                parameters += layers * linear(hidden, hidden, bias=self.second) * ("c2p" in kinds)
                parameters += layers * linear(hidden, hidden) * ("p2c" in kinds)
            parameters += 2 * self.distances * hidden
        parameters += 2 * hidden if self.norm_rel_ebd == "layer_norm" else 0
        if self.conv_kernel_size:
            parameters += self.conv_kernel_size * hidden**2 + 3 * hidden
            convolution = 2 * length * self.conv_kernel_size * hidden**2
        span = self.distances if self.second else min(length, self.distances)
        attention = layers * length * (4 * length + self.kinds_of_position * 4 * span) * hidden
        return ModelCount(
            parameters=parameters,
            matmul=plain.matmul,
            attention_full=attention,
            attention_lowest=attention,
            convolution=convolution,
        )
