"""Slow, obvious twins of the 19 feature families: one image (h, w) or (h, w, 3) at a time, pixel by pixel, float64."""

import math

import numpy as np

SHIFTS = [(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)]  # (down, right), counter-clockwise
PARTS = [(1, 2), (2, 1), (1, 3), (3, 1), (2, 2)]


def channels(image):
    return [image] if image.ndim == 2 else [image[..., c] for c in range(3)]


def gray(image):
    if image.ndim == 2:
        return image.astype(int)
    h, w, _ = image.shape
    exact = [[sum(int(v) * f for v, f in zip(image[i, j], (299, 587, 114))) for j in range(w)] for i in range(h)]
    return np.array([[math.floor(value / 1000 + 0.5) for value in row] for row in exact])


def gradient_at(plane, i, j):
    """(along x, along y), 0 where a neighbour is missing."""
    h, w = plane.shape
    x = int(plane[i, j + 1]) - int(plane[i, j - 1]) if 0 < j < w - 1 else 0
    y = int(plane[i + 1, j]) - int(plane[i - 1, j]) if 0 < i < h - 1 else 0
    return x, y


def identity(image):
    return image.ravel()


def gradient(image):
    return [math.hypot(*gradient_at(plane, i, j)) for plane in channels(image) for i, j in np.ndindex(plane.shape)]


def fourier(image):
    values = []
    for plane in channels(image):
        half = np.fft.fft2(plane)[:, : plane.shape[1] // 2]
        half = np.round(half.real, 6) + 0.0 + 1j * (np.round(half.imag, 6) + 0.0)  # no -0, whose angle would be -pi
        values += [*np.log(1 + np.abs(half)).ravel(), *np.angle(half).ravel()]
    return values


def haar(image):
    return np.concatenate([haar_of(plane.astype(float)).ravel() for plane in channels(image)])


def haar_of(plane):
    h, w = plane.shape
    if h % 2 or w % 2:
        return plane
    a, b, c, d = plane[::2, ::2], plane[::2, 1::2], plane[1::2, ::2], plane[1::2, 1::2]
    return np.block([[haar_of((a + b + c + d) / 2), (a - b + c - d) / 2], [(a + b - c - d) / 2, (a - b - c + d) / 2]])


def lbp(image):
    g, codes = gray(image), []
    for i in range(1, g.shape[0] - 1):
        for j in range(1, g.shape[1] - 1):
            codes.append(sum(2**k for k, (down, right) in enumerate(SHIFTS) if g[i + down, j + right] >= g[i, j]))
    return codes


def ilbp(image):
    g, codes = gray(image), []
    for i in range(1, g.shape[0] - 1):
        for j in range(1, g.shape[1] - 1):
            nine = [int(g[i + down, j + right]) for down, right in [*SHIFTS, (0, 0)]]
            codes.append(sum(2**k for k, value in enumerate(nine) if value * 9 > sum(nine)))
    return codes


def patch_sums(image, rectangles):
    g = gray(image)
    return [g[top:bottom, left:right].sum() for top, left, bottom, right in rectangles]


def histogram(plane):
    return [(plane == value).sum() for value in range(256)]


def votes(planes, bins, signed):
    """(h, w, bins): the length of each pixel's gradient, the longest of those of the ``planes``, split between the two
    bins whose centres are next to it."""
    width, shared = (360 if signed else 180) / bins, np.zeros((*planes[0].shape, bins))
    for i, j in np.ndindex(planes[0].shape):
        x, y = max((gradient_at(plane, i, j) for plane in planes), key=lambda xy: xy[0] ** 2 + xy[1] ** 2)
        angle = math.degrees(math.atan2(y, x)) % (bins * width)
        for k in range(bins):
            distance = abs(angle - (k + 0.5) * width)
            distance = min(distance, bins * width - distance)
            shared[i, j, k] = math.hypot(x, y) * max(0, 1 - distance / width)
    return shared


def hog(image, cell, bins, signed, of=lambda image: [gray(image)]):
    each = votes(of(image), bins, signed)
    rows, columns = image.shape[0] // cell, image.shape[1] // cell
    tall, wide, values = min(2, rows), min(2, columns), []
    for i in range(rows - tall + 1):
        for j in range(columns - wide + 1):
            corners = [((i + a) * cell, (j + b) * cell) for a in range(tall) for b in range(wide)]
            v = np.concatenate([each[top : top + cell, left : left + cell].sum((0, 1)) for top, left in corners])
            v = np.minimum(v / np.sqrt((v**2).sum() + 1e-10), 0.2)
            values += [*(v / np.sqrt((v**2).sum() + 1e-10))]
    return values


def orientation_maps(image, bins, signed, of=lambda image: [gray(image)]):
    each, values = votes(of(image), bins, signed), []
    h, w = image.shape[0] // 2, image.shape[1] // 2
    for k in range(bins):
        now = {(i, j): each[2 * i : 2 * i + 2, 2 * j : 2 * j + 2, k].sum() for i in range(h) for j in range(w)}
        for _ in range(3):
            near = lambda i, j, old=now: old[min(max(i, 0), h - 1), min(max(j, 0), w - 1)]  # noqa: E731
            now = {(i, j): sum(near(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1)) / 9 for i, j in now}
        values += now.values()
    return values


def rectangle_energy(image, bins, signed, rectangles, orientations, of=lambda image: [gray(image)]):
    each, values = votes(of(image), bins, signed), []
    for (top, left, bottom, right), orientation in zip(rectangles, orientations):
        energy = each[top:bottom, left:right].sum((0, 1))
        values.append(energy[orientation] / (energy.sum() + 0.255))
    return values


def haar_like(image, rectangles, kinds):
    g, values = gray(image), []
    for (top, left, bottom, right), kind in zip(rectangles, kinds):
        rows, columns = PARTS[kind]
        tall, wide, total = (bottom - top) // rows, (right - left) // columns, 0
        for i in range(rows):
            for j in range(columns):
                part = g[top + i * tall : top + (i + 1) * tall, left + j * wide : left + (j + 1) * wide]
                total += (-1) ** (i + j) * part.sum()
        values.append(total)
    return values


TWINS = {
    "identity": identity, "gray": lambda image: gray(image).ravel(), "fourier": fourier, "haar": haar,
    "gradient": gradient, "lbp": lbp, "ilbp": ilbp, "patch_sums": patch_sums,
    "gray_hist": lambda image: histogram(gray(image)),
    "color_hist": lambda image: [count for plane in channels(image) for count in histogram(plane)],
    "hog_u4": lambda image: hog(image, 4, 9, False), "hog_s4": lambda image: hog(image, 4, 18, True),
    "hog_u8": lambda image: hog(image, 8, 9, False), "hog_s8": lambda image: hog(image, 8, 18, True),
    "ori_s": lambda image: orientation_maps(image, 8, True), "ori_u": lambda image: orientation_maps(image, 4, False),
    "rect_u": lambda image, *draws: rectangle_energy(image, 9, False, *draws), "rect_s": lambda image,
    *draws: rectangle_energy(image, 18, True, *draws), "haar_like": haar_like,
}  # fmt: skip
STRONGEST = TWINS | {
    "hog_u4": lambda image: hog(image, 4, 9, False, channels),
    "hog_s4": lambda image: hog(image, 4, 18, True, channels),
    "hog_u8": lambda image: hog(image, 8, 9, False, channels),
    "hog_s8": lambda image: hog(image, 8, 18, True, channels),
    "ori_s": lambda image: orientation_maps(image, 8, True, channels),
    "ori_u": lambda image: orientation_maps(image, 4, False, channels),
    "rect_u": lambda image, *draws: rectangle_energy(image, 9, False, *draws, channels),
    "rect_s": lambda image, *draws: rectangle_energy(image, 18, True, *draws, channels),
}
