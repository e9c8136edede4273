"""The words that the gate lets through: attributes of tensors, `torch`, `F` and `math`, and Python's own functions.

Arithmetic and shapes are in, whatever reaches files, processes, other code or autograd is out. To add a word, ask
what it could touch besides the numbers of a tensor.
"""

_ELEMENTWISE = """
abs absolute acos acosh add addcdiv addcmul asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or
bitwise_xor arccos arccosh arcsin arcsinh arctan arctan2 arctanh ceil celu clamp clamp_max clamp_min clip
copysign cos cosh deg2rad digamma div divide elu eq erf erfc erfinv exp exp2 expm1 fill fix float_power floor
floor_divide fmod frac ge greater greater_equal gt hardtanh heaviside hypot i0 ldexp le leaky_relu lerp less
less_equal lgamma log log10 log1p log2 logical_and logical_not logical_or logical_xor logit lt masked_fill
masked_scatter mul multiply mvlgamma nan_to_num ne neg negative not_equal polygamma pow rad2deg reciprocal relu
remainder renorm round rrelu rsqrt selu sgn sigmoid sign sin sinc sinh sqrt square sub subtract tan tanh
threshold tril triu true_divide trunc xlogy zero
"""

_REDUCTIONS = """
all allclose amax amin aminmax any argmax argmin argsort argwhere bincount count_nonzero cov corrcoef cummax
cummin cumprod cumsum diff dist equal fmax fmin histc histogram isclose isfinite isin isinf isnan isneginf
isposinf isreal item kthvalue log_softmax logaddexp logaddexp2 logcumsumexp logsumexp max maximum mean median
min minimum mode msort nanmean nanmedian nanquantile nansum nonzero norm prod quantile signbit softmax sort std
std_mean sum topk trapezoid trapz unique unique_consecutive var var_mean
"""

_SHAPES = """
H T mH mT atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors broadcast_to bucketize
cat chunk clone column_stack combinations concat concatenate cartesian_prod contiguous copy diag diag_embed
diagflat diagonal diagonal_scatter dim dsplit dstack element_size expand expand_as flatten flip fliplr flipud
gather hsplit hstack index_add index_copy index_fill index_put index_reduce index_select is_complex
is_contiguous is_floating_point is_signed itemsize masked_select meshgrid moveaxis movedim narrow nbytes ndim
ndimension nelement numel permute put ravel repeat repeat_interleave reshape reshape_as roll rot90 row_stack
scatter scatter_add scatter_reduce searchsorted select select_scatter shape size slice_scatter split
split_with_sizes squeeze stack stride sum_to_size swapaxes swapdims t take take_along_dim tensor_split tile
transpose tril_indices triu_indices unbind unflatten unfold unravel_index unsqueeze vander view view_as vsplit
vstack where fill_diagonal fold pad
"""

_ALGEBRA = """
addbmm addmm addmv addr adjoint baddbmm bmm chain_matmul cdist cholesky cholesky_inverse cholesky_solve cross
det dot einsum ger inner inverse kron linalg lstsq logdet matmul matrix_exp matrix_power mm mv outer pinverse
slogdet svd tensordot trace vdot cond eig eigh eigvals eigvalsh inv lu matrix_norm matrix_rank multi_dot pinv qr
solve svdvals vecdot vector_norm
"""

_NETWORKS = """
adaptive_avg_pool1d adaptive_avg_pool2d avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear
binary_cross_entropy binary_cross_entropy_with_logits conv1d conv2d conv3d conv_transpose1d conv_transpose2d
conv_transpose3d cosine_similarity cross_entropy dropout dropout1d dropout2d embedding gelu glu group_norm
hardshrink hardsigmoid hardswish huber_loss instance_norm kl_div l1_loss layer_norm linear logsigmoid max_pool1d
max_pool2d max_pool3d mish mse_loss nll_loss normalize one_hot pairwise_distance pixel_shuffle pixel_unshuffle
prelu relu6 rms_norm scaled_dot_product_attention silu smooth_l1_loss softmin softplus softshrink softsign
tanhshrink
"""

_MAKING = """
arange as_tensor asarray bernoulli complex detach empty empty_like eye full full_like linspace logspace
multinomial new_empty new_full new_ones new_tensor new_zeros normal ones ones_like poisson rand rand_like
randint randint_like randn randn_like randperm random scalar_tensor tensor tolist uniform zeros zeros_like
exponential Generator manual_seed initial_seed is_tensor
"""

_TYPES = """
Tensor Size LongTensor FloatTensor DoubleTensor IntTensor BoolTensor bfloat16 bool byte char cpu data device
double dtype float float16 float32 float64 half imag int int16 int32 int64 int8 layout long real short strided
to type type_as uint8 finfo iinfo eps tiny smallest_normal resolution is_same_size result_type promote_types
can_cast no_grad values indices sign logabsdet eigenvalues eigenvectors Q R U S Vh V
"""

_MODULES = """
nn functional math linalg acos cbrt comb degrees e erf fabs factorial fsum gamma gcd inf isqrt lcm modf nan perm
pi radians tau ulp lgamma
"""

_PYTHON = """
append extend insert pop remove clear index count sort reverse get items keys setdefault update union
intersection difference add discard join split strip lstrip rstrip startswith endswith lower upper replace zfill
ljust rjust center
"""

_IN_PLACE = """
copy_ normal_ uniform_ random_ bernoulli_ exponential_ index_add_ index_copy_ index_fill_ index_put_
index_reduce_ scatter_ scatter_add_ scatter_reduce_ put_ unsqueeze_ squeeze_ transpose_ t_ swapaxes_ swapdims_
fill_diagonal_ addmm_ addmv_ addr_ addbmm_ baddbmm_ cumsum_ cumprod_ detach_ dropout_
"""

ATTRIBUTES = frozenset(
    " ".join(
        (_ELEMENTWISE, _REDUCTIONS, _SHAPES, _ALGEBRA, _NETWORKS, _MAKING, _TYPES, _MODULES, _PYTHON, _IN_PLACE)
    ).split()
) | {f"{word}_" for word in _ELEMENTWISE.split()}

_BUILTINS = """
_ abs all any bool dict divmod enumerate filter float frozenset hash id input int isinstance iter len list map
max min pow print range repr reversed round set slice sorted str sum tuple type zip complex ArithmeticError
AssertionError Exception IndexError KeyError NotImplementedError RuntimeError StopIteration TypeError ValueError
ZeroDivisionError NotImplemented Ellipsis True False None
"""

BUILTINS = frozenset(_BUILTINS.split())

_AUTOGRAD = """
backward autograd grad grad_fn requires_grad requires_grad_ retain_grad retains_grad enable_grad
set_grad_enabled inference_mode func vjp jvp vmap jacobian jacrev jacfwd hessian ops register_hook is_leaf
gradient gradcheck
"""
AUTOGRAD = frozenset(_AUTOGRAD.split())
"""Words that would let torch do the exercise. The rule of the game, not a wall."""
