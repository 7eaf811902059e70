"""What is read off a predictive law, of two commands and three outputs off the origin: its linear law and its limits."""

from types import SimpleNamespace

import numpy as np
import pytest
from mpc_cases import m, n, n_d, p_y, small

from controllers.mpc import verification as module
from controllers.mpc.verification import ingredients, linear_law, moved
from workbench.contract.errors import InputError

RNG = np.random.default_rng(17)
k = n_d
n_θ = n + m + k + 4  # and what is known beforehand


def law(L, **other):
    q = small(np.random.default_rng(3))
    at = {"x": slice(0, n), "u": slice(n, n + m), "d": slice(n + m, n + m + k)}
    problem = SimpleNamespace(model=q.model, n_θ=n_θ, at=at)
    gain = RNG.normal(size=(m, n_θ))
    made = SimpleNamespace(
        problem=problem, dense=SimpleNamespace(gain=lambda: gain), L=L, C_a=RNG.normal(size=(p_y, n + k)),
        reads=(2, 0), next_θ=RNG.normal(size=(n, n_θ)),
    )  # fmt: skip
    given = {"prepared": made, "relinearise": False, "extra": None}
    return SimpleNamespace(**given | other)


def by_matrices(own, corrected, from_outputs):
    """The same of (x̂, d̂) after the measurement = corrected (x̂, d̂) + from_outputs y."""
    made = own.prepared
    pick = np.zeros((n_θ, n + k + m))
    pick[:n, :n] = np.eye(n)
    pick[n : n + m, n + k :] = np.eye(m)
    pick[n + m : n + m + k, n : n + k] = np.eye(k)
    lead = pick[:, : n + k]
    z = np.hstack([lead @ corrected, pick[:, n + k :]])
    y = lead @ from_outputs
    C, D = made.dense.gain() @ z, made.dense.gain() @ y
    model = made.problem.model
    keep = np.hstack([corrected[n:], np.zeros((k, m))])
    A = np.vstack([made.next_θ @ z + model.B @ C, keep, C])
    B = np.vstack([made.next_θ @ y + model.B @ D, from_outputs[n:], D])
    return A, B, C, D


def test_the_law_is_linear_in_its_memory_and_what_it_measures():
    """With an observer (x̂, d̂) + L (y − C (x̂, d̂)), from all outputs; the commands before are of its memory, both of them."""
    own = law(RNG.normal(size=(n + k, p_y)))
    L, C_a = own.prepared.L, own.prepared.C_a
    for found, exact in zip(linear_law(own), by_matrices(own, np.eye(n + k) - L @ C_a, L)):
        assert found == pytest.approx(exact)


def test_states_that_are_measured_are_taken_as_they_are():
    """Of its first states so many as outputs are read, in the order in which they are."""
    own = law(None)
    kept = np.diag([0.0, 0.0, *np.ones(n - 2 + k)])
    read = np.zeros((n + k, p_y))
    read[0, 2] = read[1, 0] = 1.0
    for found, exact in zip(linear_law(own), by_matrices(own, kept, read)):
        assert found == pytest.approx(exact)


@pytest.mark.parametrize("other", [{"relinearise": True}, {"extra": "costs"}])
def test_a_law_that_changes_is_not_one_linear_law(other):
    with pytest.raises(InputError, match="changes from sample to sample"):
        linear_law(law(None, **other))


# ---- limits beside a steady state -----------------------------------------------------------------------------------------------
X_S, U_S = np.array([0.25, -0.5, 0.125]), np.array([0.75, -0.25])


def asked(monkeypatch, **other):
    q = small(
        np.random.default_rng(3),
        y_min=np.array([-4.0, -np.inf, -np.inf]),
        y_max=np.array([np.inf, np.inf, 5.0]),
    )
    object.__setattr__(q.model, "A", np.diag([0.5, 0.25, 0.75]))
    monkeypatch.setattr(module, "steady", lambda law, r: (X_S, U_S))
    end = SimpleNamespace(
        H=np.arange(10.0).reshape(2, 5), h=np.array([8.0, 11.0]), P=np.diag(np.arange(1.0, 6.0)),
        K=np.arange(10.0, 20.0).reshape(2, 5), room=1.0,
    )  # fmt: skip
    states = tuple(SimpleNamespace(name=name) for name in "abc")
    given = {
        "prepared": SimpleNamespace(problem=q), "terminal_data": end, "terminal": "set", "blocks": (),
        "model": SimpleNamespace(states=states), "hypotheses": lambda: {"first": True, "second": False},
    }  # fmt: skip
    return q, end, SimpleNamespace(**given | other)


def test_limits_are_what_is_left_of_them_beside_the_steady_state(monkeypatch):
    """u_max − u_s, u_s − u_min, the slew as it is, y_max − y_s and y_s − y_min of the outputs that have one."""
    q, _, own = asked(monkeypatch)
    y_s = q.model.C @ X_S + q.model.h
    found, left = ingredients(own, [0.0])
    expected = [3.0 - 0.75, 0.7 + 0.25, 2.0 + 0.75, 0.9, 0.9, 5.0 - y_s[2], y_s[0] + 4.0]
    assert found.g == pytest.approx(expected) and left == ()
    assert found.F[:3].tolist() == [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
    assert found.E[3].tolist() == [0, 0, 0, -1, 0] and found.E[-1, :3] == pytest.approx(
        -q.model.C[0]
    )
    assert (found.H, found.h)[1].tolist() == [8.0, 11.0] and found.N == q.N
    assert found.lost[0] == "not met: second" and "not met: first" not in found.lost


def test_outputs_that_are_felt_late_are_no_limits_from_the_first_sample_on(monkeypatch):
    q, _, own = asked(monkeypatch)
    text = "limits on outputs are kept from the first sample on"
    felt = np.ones_like(q.felt, bool)
    for at, lost in (((0, 0), False), ((1, 0), True), ((q.N - 1, 2), True), ((1, 1), False)):
        late = felt.copy()
        late[at] = False
        q.__dict__["felt"] = late
        assert (text in ingredients(own, [0.0])[0].lost) is lost


def test_a_state_that_no_command_moves_is_left_out(monkeypatch):
    """Its rows and columns in everything, and its name; states that drive it through others stay."""
    q, end, own = asked(monkeypatch, terminal="cost", blocks=(1, 2), lengths=[1, 2, 2])
    B = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 2.0]])
    object.__setattr__(q.model, "B", B)
    found, left = ingredients(own, [0.0], lost=("before",))
    keep = [0, 2, 3, 4]
    assert (
        left == ("b",)
        and found.A.shape == (4, 4)
        and found.P.tolist() == end.P[np.ix_(keep, keep)].tolist()
    )
    assert found.K.tolist() == end.K[:, keep].tolist() and found.E.shape[1] == 4
    assert found.H is None and found.blocks == (1, 2, 2) and found.lost[0] == "before"


def test_states_that_a_command_drives():
    A = np.array(
        [[0.5, 0.0, 0.0, 0.0], [1e-9, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.3], [0.0, 0.0, 0.0, 0.5]]
    )
    assert moved(A, np.array([[0.0, -2.0], [0, 0], [0, 0], [0, 0]])) == [0, 1]
    assert moved(A, np.array([[0.0, 0.0], [0, 0], [0, 0], [0, 1e-6]])) == [2, 3]
    assert moved(A, np.zeros((4, 1))) == []


def test_without_a_terminal_cost_there_are_no_ingredients():
    none = SimpleNamespace(prepared=SimpleNamespace(problem=None), terminal_data=None)
    with pytest.raises(InputError, match="no terminal cost"):
        ingredients(none, [0.0])
