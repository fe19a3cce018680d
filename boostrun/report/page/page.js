"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  // Tables: a click on a head sorts by it, once more the other way; rows without a figure come last.
  const sort = (head) => {
    const table = head.closest("table");
    const place = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    all("thead tr:last-child th", table).forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1;
    const key = (row) => {
      const cell = row.cells[place];
      if (head.hasAttribute("data-g")) return cell.dataset.v === undefined ? NaN : Number(cell.dataset.v);
      return cell.textContent;
    };
    const compare = (a, b) => {
      if (typeof a.key === "string") return sign * a.key.localeCompare(b.key, undefined, { numeric: true });
      if (Number.isNaN(a.key) || Number.isNaN(b.key)) return Number.isNaN(a.key) - Number.isNaN(b.key);
      return sign * (a.key - b.key);
    };
    const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: key(row) }));
    if (rows.every(({ key }) => key !== "" && Number.isFinite(Number(key)))) rows.forEach((one) => { one.key = Number(one.key); });
    rows.sort(compare);
    table.tBodies[0].append(...rows.map((one) => one.row));
  };
  all("thead button").forEach((button) => button.addEventListener("click", () => sort(button.closest("th"))));

  // The filter: items by paper, columns by data set, rows by algorithm; other panels and lines of charts fade.
  const form = document.getElementById("filter");
  const hide = (part, hidden) => part.toggleAttribute("hidden", hidden);
  const filterTable = (table, dataset, algo) => {
    const shown = new Set();
    all("thead tr:first-child th[data-g]", table).forEach((head) => {
      if (!dataset || head.dataset.dataset === dataset) shown.add(head.dataset.g);
    });
    all("[data-g]", table).forEach((cell) => hide(cell, !shown.has(cell.dataset.g)));
    const rows = all("tbody tr", table);
    rows.forEach((row) => hide(row, Boolean(algo) && row.dataset.algo !== algo));
    const some = shown.size > 0 && rows.some((row) => !row.hidden);
    hide(table.closest(".box"), !some);
    return some;
  };
  const said = new WeakMap();  // the text of an item, read once
  const says = (item) => {
    if (!said.has(item)) said.set(item, `${item.dataset.name} ${item.textContent}`.toLowerCase());
    return said.get(item);
  };
  const fade = (item) => {
    const others = (name, part) => {
      const chosen = form.elements[name].value;
      return Boolean(chosen && part.dataset[name]) && part.dataset[name] !== chosen;
    };
    ["dataset", "algo"].forEach((name) => all(`.plots [data-${name}]`, item).forEach((part) => {
      part.toggleAttribute("data-off", others(name, part));
    }));
    all(".ranks figure", item).forEach((figure) => hide(figure, others("dataset", figure)));
  };
  const filter = () => {
    const [paper, dataset, algo] = ["paper", "dataset", "algo"].map((name) => form.elements[name].value);
    const wanted = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const onlyStored = form.elements.stored.checked;
    let count = 0;
    all("details.item").forEach((item) => {
      const tables = all("table:not(.plain)", item);
      const some = tables.map((table) => filterTable(table, dataset, algo)).some(Boolean);
      const fits = tables.length ? some : !dataset && !algo;
      fade(item);
      const gone = !fits || (Boolean(paper) && item.dataset.paper !== paper) || (onlyStored && item.dataset.trials === "0");
      const lost = gone || !wanted.every((word) => says(item).includes(word));
      hide(item, lost);
      count += !lost;
    });
    const some = Boolean(wanted.length || paper || dataset || algo || onlyStored);
    all("details.paper").forEach((part) => {
      const left = all("details.item", part).some((item) => !item.hidden);
      hide(part, !left);
      if (some && left) part.open = true;
    });
    const claims = document.getElementById("claims");
    if (claims) {
      all("tbody tr", claims).forEach((row) => {
        hide(row, !wanted.every((word) => row.textContent.toLowerCase().includes(word)));
      });
      if (wanted.length && all("tbody tr", claims).some((row) => !row.hidden)) claims.open = true;
    }
    form.querySelector("output").textContent = `${count} of ${all("details.item").length} items`;
  };
  form.addEventListener("change", filter);
  let waiting = 0;
  form.elements.words.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 200); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  filter();

  // What is wider than its window says so: a table by how many columns.
  const cue = (box) => {
    const table = box.querySelector("table");
    const cells = table ? [...(table.tHead?.rows[table.tHead.rows.length - 1]?.cells || [])] : [];
    const edge = box.getBoundingClientRect().right;
    const hidden = cells.filter((cell) => !cell.hidden && cell.getBoundingClientRect().right > edge + 1).length;
    const more = table ? hidden > 0 : box.scrollWidth - box.scrollLeft > box.clientWidth + 1;
    let line = box.querySelector(".cue");
    if (!line) {
      line = element("p", "", "cue");
      box.prepend(line);
    }
    box.classList.toggle("more", more);
    hide(line, !more);
    line.textContent = table ? `→ ${hidden} more column${hidden === 1 ? "" : "s"}: scroll` : "→ scroll: the chart goes on";
  };
  const watch = new ResizeObserver((changes) => changes.forEach(({ target }) => cue(target)));
  const look = (box) => {
    watch.observe(box);
    box.addEventListener("scroll", () => cue(box), { passive: true });
  };
  all(".box").forEach(look);

  // Charts, one of an item at a time, diagrams of ranks, and trials: they come from a file beside the page when the item
  // is opened. The file is a script, because a page on a disk may load scripts and no other texts.
  const packed = new Map();  // file -> content in base64
  window.boostrun = (file, content) => packed.set(file, content);
  const { folder } = document.currentScript.dataset;
  const fetched = (file) => new Promise((resolve, reject) => {
    if (packed.has(file)) return resolve();
    const script = element("script");
    script.src = `${folder}/${file}`;
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error(`${decodeURIComponent(folder)}/${file} is missing`)));
    document.head.append(script);
    return undefined;
  });
  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const contents = new Map();  // file -> promise of its content
  const contentOf = (file) => {
    if (!contents.has(file)) {
      const content = fetched(file).then(() => unpack(packed.get(file)));
      contents.set(file, content);
      content.then(() => packed.delete(file), () => contents.delete(file));  // tried again when it is asked for again
    }
    return contents.get(file);
  };
  const drawing = (svg, caption) => {
    const figure = element("figure");
    figure.innerHTML = svg;
    if (caption) figure.append(element("figcaption", caption));
    return figure;
  };
  const plotsOf = (charts, title) => {
    const plots = element("div", undefined, "plots");
    const label = element("label", "Chart ");
    const choice = element("select");
    const figures = charts.map(([name, svg], number) => {
      const figure = drawing(svg);
      figure.setAttribute("role", "img");
      figure.setAttribute("aria-label", `${title}: ${name}`);
      hide(figure, number > 0);
      choice.append(element("option", name));
      look(figure);
      return figure;
    });
    choice.addEventListener("change", () => figures.forEach((figure, number) => hide(figure, number !== choice.selectedIndex)));
    label.append(choice);
    plots.append(label, ...figures);
    return plots;
  };
  const ranksOf = (ranks, remark) => {
    const part = element("details", undefined, "ranks");
    const panels = element("div", undefined, "panels");
    panels.append(...ranks.map(([caption, dataset, svg]) => {
      const figure = drawing(svg, caption);
      figure.dataset.dataset = dataset;
      return figure;
    }));
    const meaning = "Rank 1 is best. A bar joins methods that Nemenyi's test does not tell apart at 0.05 (CD: its critical "
      + `difference). Ranks over seeds speak of their data set alone. ${remark}`;
    part.append(element("summary", `Critical-difference diagrams (${ranks.length})`), element("p", meaning, "remark"), panels);
    return part;
  };
  const fill = async (item) => {
    const place = item.querySelector(".beside");
    if (!place || place.querySelector(".plots, .ranks")) return;
    try {
      const { charts, ranks, remark } = await contentOf(place.dataset.file);
      const parts = charts.length ? [plotsOf(charts, item.querySelector("h2").textContent)] : [];
      if (ranks.length || remark) parts.push(ranksOf(ranks, remark));
      place.replaceChildren(...parts);
      fade(item);
    } catch (error) {
      const why = `The charts and trials of this item cannot be shown: ${error.message}. boostrun report writes them after the page, into a folder that stays beside it.`;
      place.replaceChildren(element("p", why, "remark"));
    }
    place.dataset.filled = "";
  };
  const seen = (item) => !item.parentElement.closest("details:not([open])");
  const fillSeen = () => all("details.item[open]").filter(seen).forEach(fill);
  document.addEventListener("toggle", ({ target }) => target.open && target.matches(".item, .paper") && fillSeen(), true);
  addEventListener("load", fillSeen);

  // The trials behind a figure.
  const dialog = document.getElementById("trials");
  const pairs = (list) => {
    const made = element("dl");
    list.forEach(([name, text, kind]) => made.append(element("dt", name), element("dd", text, kind)));
    return made;
  };
  const figures = (values) => Object.entries(values).map(([name, value]) => `${name} ${value}`).join(", ");
  const trial = ({ commands, origins }, [key, seed, command, origin, metrics, counts, time, stale]) => {
    const made = element("details");
    const from = origins[origin];
    const first = Object.entries(metrics)[0];
    made.append(element("summary", `seed ${seed} · ${key}${first ? ` · ${first[0]} ${first[1]}` : ""}${stale ? " · †" : ""}`));
    const commit = from.commit ? from.commit.slice(0, 12) + (from.dirty ? ", with changes not committed" : "") : "outside a checkout";
    const versions = Object.entries(from.versions).map(([name, version]) => `${name} ${version}`).join(", ");
    const list = [
      ["made by", from.command],
      ["again", `boostrun ${commands[command]} seed=${seed} trials=1`],
      ["metrics", figures(metrics)],
      ["counts", figures(counts)],
      ["commit", commit, from.dirty ? "stale" : ""],
      ["versions", `Python ${from.python}, ${versions}`],
      ["time", `${time} UTC`],
    ];
    if (stale) list.push(["stale", `${stale} changed since`, "stale"]);
    made.append(pairs(list));
    return made;
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-r]");
    if (!button) return;
    const row = button.closest("tr");
    const table = button.closest("table");
    const group = button.closest("td").dataset.g;
    const head = all("thead tr:first-child th", table).find((one) => one.dataset.g === group);
    const title = [table.caption?.textContent, head?.textContent, row.cells[0].textContent].filter(Boolean).join(" · ");
    document.getElementById("trials-title").textContent = `${title}: ${button.textContent}`;
    const inside = dialog.querySelector("div");
    try {
      const { trials } = await contentOf(button.closest(".item").querySelector(".beside").dataset.file);
      inside.replaceChildren(...button.dataset.r.split(" ").map((number) => trial(trials, trials.records[number])));
      inside.querySelector("details").open = inside.children.length === 1;
    } catch (error) {
      inside.replaceChildren(element("p", error.message, "remark"));
    }
    dialog.showModal();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

  // A link into a folded item unfolds it.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) {
      for (let part = target; part; part = part.parentElement) if (part instanceof HTMLDetailsElement) part.open = true;
      target.scrollIntoView();
    }
  };
  window.addEventListener("hashchange", unfold);
  unfold();
})();
