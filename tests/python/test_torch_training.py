"""Operations for training against torch: gradients by autograd, losses, optimisers, and what else is like a function of torch."""

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import ttnn
from against_torch import assert_close, covers, tensor

NEAR = {"rtol": 0.03, "atol": 0.06, "pcc": 0.995}
M = ttnn.operations.moreh


def random(*shape, low=-1.0, high=1.0):
    return torch.empty(shape).uniform_(low, high).bfloat16().float()


def ours(device, x):
    return tensor(device, x, ttnn.bfloat16)


def like(device, *tensors):
    return [ours(device, torch.zeros_like(t)) for t in tensors]


def gradients(function, grad, *inputs):
    leaves = [x.clone().requires_grad_() for x in inputs]
    function(*leaves).backward(grad)
    return [x.grad for x in leaves]


def assert_each(expected, actual):
    for want, got in zip(expected, actual, strict=True):
        assert_close(want, got, **NEAR)


@covers("moreh_bmm", "moreh_linear", "moreh_bmm_backward", "moreh_linear_backward", "moreh_matmul_backward", "moreh_dot_backward")
def test_products(device):
    torch.manual_seed(1)
    a, b, w, bias = random(2, 40, 33), random(2, 33, 50), random(50, 33), random(1, 50)
    grad = random(2, 40, 50)
    x, y, v, c, g = (ours(device, t) for t in (a, b, w, bias, grad))
    assert_close(a @ b, M.bmm(x, y), **NEAR)
    assert_close(F.linear(a, w, bias[0]), M.linear(x, v, bias=c), **NEAR)
    into = like(device, a, b)
    assert_each(gradients(torch.bmm, grad, a, b), M.bmm_backward(g, x, y, input_grad=into[0], mat2_grad=into[1]))
    into = like(device, a, w)
    want = gradients(lambda p, q: p @ q.T, grad, a, w)
    assert_each(want, M.linear_backward(g, x, v, are_required_outputs=[True, True, False], input_grad=into[0], weight_grad=into[1])[:2])
    m = random(33, 50)
    into = like(device, a, m)
    actual = M.matmul_backward(g, x, ours(device, m), input_a_grad=into[0], input_b_grad=into[1])
    assert_each(gradients(torch.matmul, grad, a, m), actual)
    p, q, one = random(1, 1, 1, 70), random(1, 1, 1, 70), torch.full((1, 1, 1, 1), 1.5)
    into = like(device, p, q)
    actual = M.dot_backward(ours(device, one), ours(device, p), ours(device, q), input_grad=into[0], other_grad=into[1])
    assert_each([q * 1.5, p * 1.5], actual)


@covers("moreh_sum_backward", "moreh_mean_backward", "moreh_norm_backward")
@pytest.mark.parametrize("dim", [0, 2, 3])
def test_sums(dim, device):
    torch.manual_seed(2)
    x = random(2, 3, 40, 50)
    grad = random(*x.sum(dim, keepdim=True).shape)
    g = ours(device, grad)
    (want,) = gradients(lambda t: t.sum(dim, keepdim=True), grad, x)
    assert_close(want, M.sum_backward(g, input=ours(device, x), dim=dim, keepdim=True), **NEAR)
    (want,) = gradients(lambda t: t.mean(dim, keepdim=True), grad, x)
    assert_close(want, M.mean_backward(g, dim=dim, keepdim=True, input_grad_shape=list(x.shape)), **NEAR)
    (want,) = gradients(lambda t: t.norm(2.0, dim, keepdim=True), grad, x)
    norm = ours(device, x.norm(2.0, dim, keepdim=True))
    assert_close(want, M.norm_backward(ours(device, x), norm, g, 2.0, dim=dim, keepdim=True), **NEAR)


@covers("moreh_sum", "moreh_mean", "moreh_norm", "moreh_abs_pow")
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_results(dim, device):
    torch.manual_seed(9)
    x = random(2, 3, 40, 50)
    t = ours(device, x)
    assert_close(x.sum(dim, keepdim=True), M.sum(t, dim=dim, keepdim=True), **NEAR)
    assert_close(x.mean(dim, keepdim=True), M.mean(t, dim=dim, keepdim=True), **NEAR)
    assert_close(x.norm(2, dim, keepdim=True), M.norm(t, p=2.0, dim=dim, keepdim=True), **NEAR)
    assert_close(x.abs() ** 2.5, M.abs(t, 2.5), **NEAR)


@covers("moreh_softmax_backward", "moreh_softmin_backward", "moreh_logsoftmax_backward")
@pytest.mark.parametrize("name, function", [("softmax", F.softmax), ("softmin", F.softmin), ("logsoftmax", F.log_softmax)])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_softmax(name, function, dim, device):
    torch.manual_seed(3)
    x, grad = random(2, 5, 40, 50), random(2, 5, 40, 50)
    (want,) = gradients(lambda t: function(t, dim), grad, x)
    y = function(x, dim)
    assert_close(want, getattr(M, name + "_backward")(ours(device, y), ours(device, grad), dim), **NEAR)


@covers("moreh_layer_norm_backward", "moreh_group_norm", "moreh_group_norm_backward")
def test_normalisation(device):
    torch.manual_seed(4)
    x, grad, gain, bias = random(2, 3, 40, 50), random(2, 3, 40, 50), random(1, 50, low=0.5), random(1, 50)
    mean, rstd = x.mean(3), (x.var(3, unbiased=False) + 1e-5).rsqrt()
    want = gradients(lambda t, g, b: F.layer_norm(t, (50,), g[0], b[0], 1e-5), grad, x, gain, bias)
    into = like(device, x, gain, bias)
    actual = M.layer_norm_backward(
        *(ours(device, t) for t in (grad, x, mean, rstd)), 1, gamma=ours(device, gain), input_grad=into[0], gamma_grad=into[1], beta_grad=into[2]
    )
    for expected, got in zip(want, actual):
        assert_close(expected, got, rtol=0.05, atol=0.3, pcc=0.99)
    x, grad, gain, bias = random(2, 6, 40, 50), random(2, 6, 40, 50), random(1, 1, 1, 6, low=0.5), random(1, 1, 1, 6)
    flat = x.reshape(2, 2, -1)
    mean, rstd = flat.mean(2).reshape(1, 1, 2, 2), (flat.var(2, unbiased=False) + 1e-5).rsqrt().reshape(1, 1, 2, 2)

    def group_norm(t, g, b):
        return F.group_norm(t, 2, g.flatten(), b.flatten(), 1e-5)

    y, *none = M.group_norm(ours(device, x), 2, 1e-5, ours(device, gain), ours(device, bias))
    assert none == [None, None]
    assert_close(group_norm(x, gain, bias), y, **NEAR)
    every = [True, True, True]
    actual = M.group_norm_backward(*(ours(device, t) for t in (grad, x, mean, rstd)), 2, gamma=ours(device, gain), are_required_outputs=every)
    for expected, got in zip(gradients(group_norm, grad, x, gain, bias), actual):
        assert_close(expected, got, rtol=0.05, atol=0.6, pcc=0.99)


@covers("moreh_nll_loss", "moreh_nll_loss_backward", "moreh_nll_loss_unreduced_backward")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(reduction, device):
    torch.manual_seed(5)
    x, target, weight = random(3, 10, 8, 9, low=-3, high=0), torch.randint(0, 10, (3, 8, 9)), random(10, low=0.5, high=2)
    named = tensor(device, target.int(), ttnn.int32)
    weights, divisor = ours(device, weight), ours(device, torch.zeros(1, 1))
    want = F.nll_loss(x, target, weight, reduction=reduction, ignore_index=3)
    options = {"weight_tensor": weights, "ignore_index": 3}
    parts = {"divisor_tensor": divisor} if reduction == "mean" else {}
    actual = ttnn.to_torch(M.nll_loss(ours(device, x), named, reduction, **options, **parts)).float()
    torch.testing.assert_close(actual.reshape(want.shape), want, rtol=0.03, atol=0.06)
    grad = random(*want.shape) if reduction == "none" else torch.tensor(1.5)
    (want,) = gradients(lambda t: F.nll_loss(t, target, weight, reduction=reduction, ignore_index=3), grad, x)
    (into,) = like(device, x)
    if reduction == "none":
        actual = M.nll_loss_unreduced_backward(named, ours(device, grad), input_grad_tensor=into, **options)
    else:
        grad = ours(device, grad.reshape(1, 1))
        actual = M.nll_loss_backward(named, grad, reduction == "mean", input_grad_tensor=into, **options, **parts)
    assert_close(want, actual, **NEAR)


@covers("moreh_sgd", "moreh_adam", "moreh_adamw")
@pytest.mark.parametrize("name", ["sgd", "adam", "adamw"])
def test_steps(name, device):
    torch.manual_seed(6)
    param, grad = random(40, 50), random(40, 50)
    leaf = torch.nn.Parameter(param.clone())
    leaf.grad = grad.clone()
    zeros = ours(device, torch.zeros(40, 50))
    if name == "sgd":
        torch.optim.SGD([leaf], lr=0.25, momentum=0.5, weight_decay=0.1, nesterov=True).step()
        options = {"lr": 0.25, "momentum": 0.5, "weight_decay": 0.1, "nesterov": True, "momentum_initialized": False}
        actual = M.sgd(ours(device, param), ours(device, grad), **options)
    else:
        kind = torch.optim.Adam if name == "adam" else torch.optim.AdamW
        kind([leaf], lr=0.25, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1, amsgrad=True).step()
        options = {"lr": 0.25, "beta1": 0.8, "beta2": 0.9, "eps": 1e-3, "weight_decay": 0.1, "step": 1, "amsgrad": True}
        actual = getattr(M, name)(ours(device, param), ours(device, grad), zeros, zeros, max_exp_avg_sq_in=zeros, **options)
    assert_close(leaf.detach(), actual[0], **NEAR)


@covers("moreh_clip_grad_norm")
def test_clipping(device):
    torch.manual_seed(7)
    grads = [random(1, 2, 40, 50), random(2, 1, 33, 20)]
    leaves = [torch.nn.Parameter(torch.zeros_like(g)) for g in grads]
    for leaf, grad in zip(leaves, grads):
        leaf.grad = grad.clone()
    tensors = [ours(device, g) for g in grads]
    want = torch.nn.utils.clip_grad_norm_(leaves, 2.0, 2.0)
    assert abs(ttnn.to_torch(M.clip_grad_norm(tensors, 2.0, 2.0)).item() - want) < 0.02 * want
    assert_each([leaf.grad for leaf in leaves], tensors)


@covers("moreh_arange", "moreh_fold", "moreh_getitem", "index_fill_new", "composite_example", "composite_example_multiple_return")
def test_parts(device):
    torch.manual_seed(8)
    assert torch.equal(ttnn.to_torch(M.arange(3, 60, 4, device, dtype=ttnn.float32)), torch.arange(3.0, 60, 4)[None])
    x = random(2, 12, 30)
    want = F.fold(x, (6, 7), (2, 2), padding=0)
    rows = {"layout": ttnn.ROW_MAJOR_LAYOUT}
    assert_close(want, M.fold(tensor(device, x, ttnn.bfloat16, **rows), None, [6, 7], [2, 2]), **NEAR)
    x, index = random(4, 5, 6, 40), torch.tensor([3, -1, 0], dtype=torch.int32)
    numbers = tensor(device, index, ttnn.int32, **rows)
    assert_close(x[:, index.long()], M.getitem(tensor(device, x, ttnn.bfloat16, **rows), [numbers], [1]), **NEAR)
    places = tensor(device, torch.tensor([3, 1], dtype=torch.int32), ttnn.uint32, **rows)
    actual = ttnn.index_fill_new(tensor(device, x, ttnn.bfloat16, **rows), 1, places, 2.0)
    assert_close(x.index_fill(1, torch.tensor([3, 1]), 2.0), actual, **NEAR)
    assert_close(x, ttnn.composite_example(ours(device, x)), **NEAR)
    first, second = ttnn.composite_example_multiple_return(ours(device, x), False, True)
    assert first is None
    assert_close(x, second, **NEAR)
