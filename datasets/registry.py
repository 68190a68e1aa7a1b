"""The data sets by name: what each one is, where it comes from, and what must be true of it once it is read.

To add a set, add its :class:`Entry` (and, for a vendored set, its file; for a generated one, the function of its name
in ``generators``; for a large one, the :class:`Part` of each file). ``verify`` says what it found where the facts stated here
differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from numbers import Integral, Real
from typing import Literal, TypeGuard

from mmc import plugins
from mmc.datasets.dataset import DataError
from mmc.plugins import PluginError, Registered

_CC_BY = "CC BY 4.0"
_OWN = "BSD-3-Clause, as this package"
_UCI = "UCI Machine Learning Repository"


@dataclass(frozen=True)
class Option:
    """A generator's option. The default decides its type; numbers must be positive unless ``signed``."""

    default: int | float | tuple[float, ...]
    meaning: str
    signed: bool = False

    def accept(self, value: object) -> int | float | tuple[float, ...]:
        """Return the value in the default's type; raise DataError if it does not fit."""
        several = isinstance(self.default, tuple)
        size = len(self.default) if isinstance(self.default, tuple) else 1
        parts = value if several else (value,)
        numbers = tuple(filter(self._fits, parts)) if isinstance(parts, Sequence) and len(parts) == size else ()
        if len(numbers) != size:
            kind = ("" if self.signed else "positive ") + ("whole number" if self._whole else "number")
            raise DataError(f"must be {f'a list of {size} {kind}s' if several else f'a {kind}'}, not {value!r}")
        numbers = tuple(int(number) if self._whole else float(number) for number in numbers)
        return numbers if several else numbers[0]

    @property
    def _whole(self) -> bool:
        return isinstance(self.default, int)

    def _fits(self, part: object) -> TypeGuard[float]:
        if not isinstance(part, Integral if self._whole else Real) or isinstance(part, bool):
            return False
        try:
            number = float(part)
        except OverflowError:  # a whole number beyond all floats
            return False
        return isfinite(number) and (self.signed or number > 0)


@dataclass(frozen=True)
class Part:
    """One file of a large set, which does not come with the package, in the format of its public original.

    ``file`` is its name without an ending for compression, ``also`` other names under which it is passed around, and
    ``url`` where it is downloaded from: itself, compressed or not, or a zip archive with the file inside. ``sha256`` is
    that of the decoded numbers, so that it does not matter how the file was compressed or its text was laid out.
    """

    file: str
    url: str
    shape: tuple[int, ...]
    sha256: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A registered data set. Rows, classes and hash are those of the complete rows, as ``load`` returns them.

    Of a generated set they belong to the default options and seed 0. ``dropped`` rows of the original are incomplete;
    rows before ``n_train`` are its training part; ``file`` and ``target`` say where a vendored set's labels are,
    ``parts`` and ``layout`` which files a large set is made of and where its labels are. Of a plugin's set nothing is known
    before it is loaded but its ``origin``.
    """

    name: str
    description: str
    source: str
    licence: str
    citation: str
    rows: int
    features: int
    classes: Mapping[str, int]
    content_hash: str
    kind: Literal["vendored", "library", "generated", "large", "plugin"]
    positive: str | None = None
    dropped: int = 0
    n_train: int | None = None
    file: str = ""
    target: str = ""
    parts: tuple[Part, ...] = ()
    origin: str = "mmc"
    layout: Literal["", "label-first", "label-last", "idx"] = ""
    options: Mapping[str, Option] = field(default_factory=dict)


_LETTERS = (
    *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),
    *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
)
_USPS = (1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821)
_MNIST = (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958)
_ESL = "https://hastie.su.domains/ElemStatLearn/datasets"
_OSSCI = "https://ossci-datasets.s3.amazonaws.com/mnist"
_ISOLET = "https://archive.ics.uci.edu/static/public/54/isolet.zip"
_DELVE = "generated; the definitions are those of the Delve repository's ringnorm and twonorm"
_BREIMAN = "Breiman (1996), Bias, variance, and arcing classifiers, TR 460, Statistics Department, UC Berkeley"

REGISTRY: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            name="breast_cancer",
            description="diagnostic Wisconsin set: cell nuclei in an image of a breast mass, benign or malignant",
            source=f"scikit-learn's copy of WDBC, {_UCI}",
            licence=_CC_BY,
            citation=f"Wolberg, Mangasarian, Street & Street (1993), {_UCI}, doi:10.24432/C5DW2B",
            rows=569,
            features=30,
            classes={"benign": 357, "malignant": 212},
            content_hash="5694353ad5a5b7b73be648038afdcedee7931a8c6b769a78b0c2946f77872c91",
            kind="library",
            positive="malignant",
        ),
        Entry(
            name="breast_cancer_wisconsin",
            description="original Wisconsin set: nine cytological grades from 1 to 10, benign or malignant",
            source=f"mlbench (R), BreastCancer, from the {_UCI}",
            licence=_CC_BY,
            citation=f"Wolberg (1990), {_UCI}, doi:10.24432/C5HP4Z",
            rows=683,
            features=9,
            classes={"benign": 444, "malignant": 239},
            content_hash="99548f8011bd5f309358c5b59c4b9fae8bcc50bba5ef5a6442a45f291d8577b5",
            kind="vendored",
            positive="malignant",
            dropped=16,
            file="breast_cancer_wisconsin.csv",
            target="diagnosis",
        ),
        Entry(
            name="heart_cleveland",
            description="heart disease, Cleveland clinic: 13 clinical measures, healthy or diseased",
            source=f"Orange3, text categories mapped back to the codes of the {_UCI}",
            licence=_CC_BY,
            citation=f"Janosi, Steinbrunn, Pfisterer & Detrano (1989), {_UCI}, doi:10.24432/C52P4X",
            rows=297,
            features=13,
            classes={"disease": 137, "healthy": 160},
            content_hash="df3525f0cfc54a02421c178b35dd373638e3533b5d207f02ba22875e3974cd31",
            kind="vendored",
            positive="disease",
            dropped=6,
            file="heart_cleveland.csv",
            target="diagnosis",
        ),
        Entry(
            name="heart_statlog",
            description="heart disease, the Statlog project's 270 rows of the Cleveland set",
            source=f"LIBLINEAR's heart_scale, scaling undone, from the {_UCI}",
            licence=_CC_BY,
            citation=f"Statlog (Heart), {_UCI}, doi:10.24432/C57303",
            rows=270,
            features=13,
            classes={"disease": 120, "healthy": 150},
            content_hash="8bc83b8fb6dd38b81e4cb6600466f4ea938f69bd5ea67050a53ed9868c9152a7",
            kind="vendored",
            positive="disease",
            file="heart_statlog.csv",
            target="diagnosis",
        ),
        Entry(
            name="pima",
            description="diabetes among Pima women: 8 clinical measures; zeros stand for missing values in five",
            source=f"mlbench (R), PimaIndiansDiabetes, from the {_UCI}",
            licence=_CC_BY,
            citation="Smith, Everhart, Dickson, Knowler & Johannes (1988), Using the ADAP learning algorithm to "
            "forecast the onset of diabetes mellitus, Proc. Symp. Computer Applications and Medical Care, 261-265",
            rows=768,
            features=8,
            classes={"neg": 500, "pos": 268},
            content_hash="40db800f2437508aa446df00f90ad6fdc9c289ff2a09bb6beff2473362c36191",
            kind="vendored",
            positive="pos",
            file="pima.csv",
            target="diabetes",
        ),
        Entry(
            name="ionosphere",
            # No paper biases this set. Its rarer class is the positive one, as in the medical sets.
            description="radar returns that show structure in the ionosphere (good) or pass through it (bad)",
            source=f"mlbench (R), Ionosphere, from the {_UCI}",
            licence=_CC_BY,
            citation=f"Sigillito, Wing, Hutton & Baker (1989), {_UCI}, doi:10.24432/C5W01B",
            rows=351,
            features=34,
            classes={"bad": 126, "good": 225},
            content_hash="e5c062c4502e96162a8753da08faba9f8adc098d8bd507e4dacb2f56c711800e",
            kind="vendored",
            positive="bad",
            file="ionosphere.csv",
            target="signal",
        ),
        Entry(
            name="sonar",
            description="sonar echoes in 60 frequency bands, from a metal cylinder (M, a mine) or a rock (R)",
            source=f"mlbench (R), Sonar, from the {_UCI}",
            licence=_CC_BY,
            citation=f"Sejnowski & Gorman (1988), {_UCI}, doi:10.24432/C5T01Q",
            rows=208,
            features=60,
            classes={"M": 111, "R": 97},
            content_hash="e6b6d6816f3d0fb40dc440bb6214c9d10c24e3db8d9d58b3ff6e51ef97cb9103",
            kind="vendored",
            positive="M",
            file="sonar.csv",
            target="object",
        ),
        Entry(
            name="letter",
            description="16 features of distorted images of the 26 capital letters, in the original's order",
            source=f"MRCpy, from the {_UCI}",
            licence=_CC_BY,
            citation=f"Slate (1991), {_UCI}, doi:10.24432/C5ZP40",
            rows=20000,
            features=16,
            classes=dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", _LETTERS, strict=True)),
            content_hash="5b2c903988f14d9806118fab5969e5d98e94d0ea212ddc1d7a54dfab720671bc",
            kind="vendored",
            n_train=16000,
            file="letter.csv.gz",
            target="lettr",
        ),
        Entry(
            name="usps",
            description="16 × 16 images of handwritten digits from envelopes, grey values from -1 to 1",
            source="ZIP code data of the book The Elements of Statistical Learning, from AT&T's neural network group",
            licence="none stated; made public for research",
            citation="Le Cun et al. (1990), Handwritten digit recognition with a back-propagation network, NIPS 2",
            rows=9298,
            features=256,
            classes=dict(zip("0123456789", _USPS, strict=True)),
            content_hash="c89c20379b0303f22162579d629621e317d301e7d6db18ed72ea8aaf62464951",
            kind="large",
            n_train=7291,
            layout="label-first",
            parts=(
                Part(
                    "zip.train",
                    f"{_ESL}/zip.train.gz",
                    (7291, 257),
                    "6f2f5d868815e03c7198cdf8ae877bfdd0cdffba07a090ea6f0ddd1af1799368",
                ),
                Part(
                    "zip.test",
                    f"{_ESL}/zip.test.gz",
                    (2007, 257),
                    "c23fe7285ae5b88ccdbab5449db3700eb122f2ab70e162c1765841d8f68e8009",
                ),
            ),
        ),
        Entry(
            name="mnist",
            description="28 × 28 images of handwritten digits, grey values from 0 to 255, kept as bytes",
            source="the IDX files of LeCun, Cortes & Burges, from NIST's special databases 1 and 3",
            licence="CC BY-SA 3.0",
            citation="LeCun, Bottou, Bengio & Haffner (1998), Gradient-based learning applied to document recognition, "
            "Proceedings of the IEEE 86(11)",
            rows=70000,
            features=784,
            classes=dict(zip("0123456789", _MNIST, strict=True)),
            content_hash="1d07eccf87b2250d54800d60e81023376380fe460b460cece97207b0473b7040",
            kind="large",
            n_train=60000,
            layout="idx",
            parts=(
                Part(
                    "train-images-idx3-ubyte",
                    f"{_OSSCI}/train-images-idx3-ubyte.gz",
                    (60000, 28, 28),
                    "4fe76d14c3381e15cfba774ef635d423a6a3628b92021efa03ec3ca8bc6db676",
                    also=("train-images.idx3-ubyte",),
                ),
                Part(
                    "train-labels-idx1-ubyte",
                    f"{_OSSCI}/train-labels-idx1-ubyte.gz",
                    (60000,),
                    "f26d15bf47a42661bef177c13f9f81624d6916670fbd7c9b3242f8c9dd4040ea",
                    also=("train-labels.idx1-ubyte",),
                ),
                Part(
                    "t10k-images-idx3-ubyte",
                    f"{_OSSCI}/t10k-images-idx3-ubyte.gz",
                    (10000, 28, 28),
                    "96624889625735c870978292d44fd7ede5b437f0cfe2888e2b32fe0770c3ded5",
                    also=("t10k-images.idx3-ubyte",),
                ),
                Part(
                    "t10k-labels-idx1-ubyte",
                    f"{_OSSCI}/t10k-labels-idx1-ubyte.gz",
                    (10000,),
                    "1c02d264402e387e4efc68c1c6d3e86c6ffb7b31ab64af5fdb1650ee826f5eaa",
                    also=("t10k-labels.idx1-ubyte",),
                ),
            ),
        ),
        Entry(
            name="isolet",
            description="617 features of spoken letters of the alphabet, labelled 1 to 26; 120 speakers train, 30 test",
            source=_UCI,
            licence=_CC_BY,
            citation=f"Cole & Fanty (1991), {_UCI}, doi:10.24432/C51G69",
            rows=7797,
            features=617,
            classes={str(letter): 300 for letter in range(1, 27)} | {"6": 298, "13": 299},
            content_hash="30358c59e5de2a07321926ffd869fd48fbad1b9218e32404939db82e42dfad31",
            kind="large",
            n_train=6238,
            layout="label-last",
            parts=(
                Part(
                    "isolet1+2+3+4.data",
                    _ISOLET,
                    (6238, 618),
                    "e939aea4028f6525e849ce852db3115c6c630f22ed46f63cdc8a768c450a9921",
                ),
                Part(
                    "isolet5.data",
                    _ISOLET,
                    (1559, 618),
                    "bf422030821124fc610bbe2f3a0038582796e2fac63805b335528ddbd7fdb475",
                ),
            ),
        ),
        Entry(
            name="ring_norm",
            description="positives N((a, …, a), I), a = 1/√n, inside negatives N(0, 4I)",
            source=_DELVE,
            licence=_OWN,
            citation=_BREIMAN,
            rows=400,
            features=2,
            classes={"neg": 191, "pos": 209},
            content_hash="ad26e6766740e4fd4032d378feb7555b014b5e9caf84270ba781fb4bf2ee0f95",
            kind="generated",
            positive="pos",
            options={
                "n_features": Option(2, "number of features n"),
                "n_pos": Option(209, "rows of the positive class"),
                "n_neg": Option(191, "rows of the negative class"),
            },
        ),
        Entry(
            name="two_norm",
            description="positives N((a, …, a), I), a = 2/√n, beside negatives N(-(a, …, a), I)",
            source=_DELVE,
            licence=_OWN,
            citation=_BREIMAN,
            rows=500,
            features=2,
            classes={"neg": 234, "pos": 266},
            content_hash="155fc653c0822e555cbe770675414ddae6e7f6684a5d2df97edfd9865aa1ce83",
            kind="generated",
            positive="pos",
            options={
                "n_features": Option(2, "number of features n"),
                "n_pos": Option(266, "rows of the positive class"),
                "n_neg": Option(234, "rows of the negative class"),
            },
        ),
        Entry(
            name="gamma_synthetic",
            # The paper gives shape and scale; 45 test rows per class follow from its percentages (97.8 % = 44/45).
            # The rest is open. 105 rows make a 70/30 split; a right angle and a distance of 58 give the population the
            # bounds of Table I: MPM 92.7 % (printed 92.7 %), BMPM at 90 % 94.7 % (printed 94.9 %).
            description="two classes of one two-dimensional gamma distribution, one of them turned and moved",
            source="generated; Huang et al., section 4.1",
            licence=_OWN,
            citation="Huang, Yang, King, Lyu & Chan, Biased Minimax Probability Machine for Medical Diagnosis",
            rows=300,
            features=2,
            classes={"neg": 150, "pos": 150},
            content_hash="e69cd55460dd36cdb17cec518ebe21a34cdf5a8c0cf963a9cd47d0a66034be44",
            kind="generated",
            positive="pos",
            n_train=210,
            options={
                "n_pos": Option(105, "training rows of the positive class"),
                "n_neg": Option(105, "training rows of the negative class"),
                "test_pos": Option(45, "test rows of the positive class"),
                "test_neg": Option(45, "test rows of the negative class"),
                "shape": Option((5.0, 6.0), "shape of the gamma distribution of each feature"),
                "scale": Option((4.0, 3.0), "scale of the gamma distribution of each feature"),
                "rotation": Option(90.0, "turn of the positive class about its mean, in degrees", signed=True),
                "displacement": Option((58.0, 0.0), "difference of the classes' means", signed=True),
            },
        ),
        Entry(
            name="bsvm_toy",
            description="nine normal clusters on a chessboard: five positive (centre, diagonals), four negative (axes)",
            source="generated; Pendse, section 4",
            licence=_OWN,
            citation="Pendse, BSVM: A Banded Support Vector Machine",
            rows=900,
            features=2,
            n_train=450,
            classes={"neg": 400, "pos": 500},
            content_hash="a06065a385aa6f38fd0cf912ec95a9fc362a0ffde1a4b495f0bbb88234b7d7d5",
            kind="generated",
            positive="pos",
            options={
                "per_cluster": Option(50, "training rows of each cluster (the paper does not say)"),
                "test_per_cluster": Option(50, "test rows of each cluster (the paper has none)"),
                "sigma_pos": Option(0.2, "standard deviation of a positive cluster"),
                "sigma_neg": Option(0.2, "standard deviation of a negative cluster"),
            },
        ),
        Entry(
            name="noisy_normals",
            description="two normal classes in the plane, each with a few points that stray towards the other",
            source="generated; the setting of Nath & Bhattacharyya's Figure 4",
            licence=_OWN,
            citation="Nath & Bhattacharyya, Maximum Margin Classifiers with Specified Error Rates, Figure 4",
            rows=204,
            features=2,
            classes={"neg": 102, "pos": 102},
            content_hash="032b4cc05493956f423fc4ee9fb3a8621e450cee829d81ba072f87dd24b69f62",
            kind="generated",
            positive="pos",
            options={
                "n_pos": Option(100, "clean rows of the positive class"),
                "n_neg": Option(100, "clean rows of the negative class"),
                "noisy": Option(2, "stray rows of each class; 0 for none", signed=True),
                "spread": Option((0.6, 0.6), "standard deviations of the classes along the two axes"),
                "distance": Option(6.0, "distance of the two means, along the first axis"),
                "reach": Option(0.38, "how far the stray rows stray, as a share of the distance"),
            },
        ),
        Entry(
            name="separable_normals",
            description="two normal classes of different shape on either side of a plane, a margin apart",
            source="generated; what Gu & Guo's section 2 assumes",
            licence=_OWN,
            citation="Gu & Guo, Max-Margin Ratio Machine, section 2",
            rows=300,
            features=10,
            classes={"neg": 180, "pos": 120},
            content_hash="5763fe3ccdd61afcd10fb70bb476e1c246f07f4bcf4ba143b742f5a899bbfeb7",
            kind="generated",
            positive="pos",
            options={
                "n_features": Option(10, "number of features"),
                "n_pos": Option(120, "rows of the positive class"),
                "n_neg": Option(180, "rows of the negative class"),
                "margin": Option(2.0, "distance of the classes along the first axis"),
                "spread": Option((1.0, 2.0), "standard deviation of each class along the other axes"),
                "lean": Option((1.0, -1.0), "how far the other features of each class follow the first", signed=True),
            },
        ),
        Entry(
            name="random_circles",
            description="knowledge sets without points: a circle of radius 1 against smaller ones around an arc of it",
            source="generated; the setting of Pothin & Richard's Figure 2",
            licence=_OWN,
            citation="Pothin & Richard, Incorporating Prior Information into Support Vector Machines in the Form of "
            "Ellipsoidal Knowledge Sets, Figure 2",
            rows=4,
            features=2,
            classes={"biggest": 1, "other": 3},
            content_hash="f35f544a02b5a9157bc1efecfef8012371dff0832652b86aadfcd9443706a65d",
            kind="generated",
            positive="biggest",
            options={
                "n_small": Option(3, "number of smaller circles"),
                "separable": Option(0, "1: a line separates the classes; 0: none does", signed=True),
                "radii": Option((0.2, 0.8), "least and largest radius of a smaller circle"),
                "arc": Option(120.0, "arc of the biggest circle that the others lie around, in degrees"),
                "gap": Option(0.5, "largest distance of a smaller circle from the biggest one"),
            },
        ),
    )
}


def known() -> dict[str, Entry]:
    """Return all data sets by name: those of mmc, and what plugins register."""
    return {**REGISTRY, **{name: _of_plugin(found) for name, found in plugins.registered("mmc.datasets").items()}}


def _of_plugin(found: Registered) -> Entry:
    if found.name in REGISTRY:
        raise PluginError(f"{found.origin} registers {found.name!r}, which is a data set of mmc: it needs another name")
    words = f"a data set of {found.origin}"
    return Entry(
        found.name, words, found.origin, "as its package says", "", 0, 0, {}, "", "plugin", origin=found.origin
    )
