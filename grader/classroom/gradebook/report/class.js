"use strict";
// The page's table and heat map. Text from the data is only ever set as text, and rows are made
// when they come into view, so that 100,000 of them are as quick as five.
(() => {
  const { once, rows } = JSON.parse(document.getElementById("data").textContent);
  const data = { ...once, rows };
  const [ID, NAME, PAGE, STATUS, FLAGS, POINTS, PARTS, OUTCOMES, KINDS] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const gradients = data.notebooks.flatMap(([notebook, names], part) => names.map((name) => ({ notebook, name, part })));
  const starts = gradients.map((gradient, i) => i > 0 && gradient.part !== gradients[i - 1].part);
  const breaks = starts.filter(Boolean).length;
  const named = (row) => row[NAME] || row[ID];
  const page = (row) => "students/" + encodeURIComponent(row[PAGE]) + ".html";
  const number = (value) => (value === null ? "–" : String(Math.round(value * 100) / 100));
  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // Colours come from the style sheet, which knows whether it is dark.
  const root = document.documentElement;
  let colours = {};
  const readColours = () => {
    const style = getComputedStyle(root);
    const get = (name) => style.getPropertyValue(name).trim();
    colours = { "-": get("--c-none"), ink: get("--ink"), quiet: get("--quiet"), card: get("--card") };
    for (const [letter, outcome] of Object.entries(data.letters)) colours[letter] = get("--c-" + outcome);
  };
  readColours();

  // A canvas of the size at which it is shown, in the screen's own pixels.
  const sized = (canvas, width, height) => {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    return context;
  };
  // Where the columns of gradients stand: notebooks are set apart a little.
  const GAP = 5;
  const columnsOf = (width, gap) => {
    const step = (width - gap * breaks) / gradients.length;
    let x = 0;
    return gradients.map((_, i) => {
      if (starts[i]) x += gap;
      const left = x;
      x += step;
      return { left, step };
    });
  };

  const drawStrip = (canvas, row) => {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height) return;
    const context = sized(canvas, width, height);
    const columns = columnsOf(width, GAP);
    const rim = columns[0].step > 5 ? 1 : 0;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = "700 10px system-ui, sans-serif";
    columns.forEach(({ left, step }, i) => {
      const letter = row[OUTCOMES][i];
      context.fillStyle = colours[letter];
      context.fillRect(left, 0, step - rim, height);
      if (step >= 11 && letter !== "-" && letter !== "p" && letter !== "t") {
        context.fillStyle = letter === "c" ? colours.ink : colours.card;
        context.fillText(data.signs[letter], left + (step - rim) / 2, height / 2 + 0.5);
      }
    });
  };
  const strip = (row) => {
    const counts = {};
    for (const letter of row[OUTCOMES]) counts[letter] = (counts[letter] || 0) + 1;
    const said = Object.keys(data.words).filter((letter) => counts[letter]).map((letter) => counts[letter] + " " + data.words[letter]);
    const canvas = element("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", said.join(", ") || "nothing graded");
    canvas.title = said.join(", ") || "nothing graded";
    return canvas;
  };

  // ---- the table
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const form = document.getElementById("controls");
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const keys = [];
  const rank = new Map();
  [...data.rows.keys()]
    .sort((a, b) => collator.compare(named(data.rows[a]), named(data.rows[b])) || a - b)
    .forEach((index, place) => rank.set(index, place));
  const values = {
    name: (row, index) => rank.get(index),
    points: (row) => (row[POINTS] === null ? -1 : row[POINTS]),
    status: (row) => row[STATUS],
    flags: (row) => row[FLAGS],
  };
  let sort = { by: "name", down: false };
  let shown = [];
  let everything = false;

  // The second list has the mistakes that were made in the gradient of the first.
  const what = form.elements.what, always = what.options.length, MOST_MISTAKES = 40;
  const offer = () => {
    const gradient = form.elements.gradient.value;
    what.disabled = gradient === "";
    what.length = always;
    what.value = "";
    if (what.disabled) return;
    const counts = new Map();
    for (const row of data.rows) {
      const kind = row[KINDS][gradient];
      if (kind !== undefined) counts.set(kind, (counts.get(kind) || 0) + 1);
    }
    for (const [kind, count] of [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MOST_MISTAKES)) {
      what.add(new Option(data.kinds[kind] + " (" + count + ")", kind));
    }
  };

  const select = () => {
    const query = plain(form.elements.query.value.trim());
    const status = form.elements.status.value;
    const gradient = form.elements.gradient.value;
    const what = form.elements.what.value;
    shown = [...data.rows.keys()].filter((index) => {
      const row = data.rows[index];
      if (query) {
        keys[index] ??= plain(row[NAME] + "\n" + row[ID]);
        if (!keys[index].includes(query)) return false;
      }
      if (status === "flagged" ? !row[FLAGS] : status === "partly" ? row[POINTS] === null || !row[PARTS].includes(null) : status !== "" && row[STATUS] !== Number(status)) return false;
      if (gradient !== "") {
        const letter = row[OUTCOMES][Number(gradient)];
        if (what !== "wrong" && what !== "todo" && what !== "") {
          if (row[KINDS][gradient] !== Number(what)) return false;
        } else if (!((what !== "todo" && data.wrong.includes(letter)) || (what !== "wrong" && letter === data.todo))) return false;
      }
      return true;
    });
    const value = values[sort.by] || ((row) => row[PARTS][Number(sort.by)] ?? -1);
    const keyed = new Map(shown.map((index) => [index, value(data.rows[index], index)]));
    const sign = sort.down ? -1 : 1;
    shown.sort((a, b) => sign * (keyed.get(a) - keyed.get(b)) || rank.get(a) - rank.get(b));
    const all = data.rows.length.toLocaleString("en");
    document.getElementById("count").textContent = shown.length === data.rows.length ? all + " students" : shown.length.toLocaleString("en") + " of " + all + " students";
    for (const head of table.tHead.rows[0].cells) {
      if (head.dataset.sort === sort.by) head.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    table.setAttribute("aria-rowcount", String(shown.length + 1));
    rendered.clear();
    body.replaceChildren(above, below);
    render();
  };

  const makeRow = (place) => {
    const row = data.rows[shown[place]];
    const made = element("tr");
    made.setAttribute("aria-rowindex", String(place + 2));
    const student = element("td", "c-student");
    const link = element("a", "", named(row));
    link.href = page(row);
    link.dir = "auto";
    student.append(link);
    if (row[NAME] && row[NAME] !== row[ID]) student.append(element("small", "", row[ID]));
    student.title = named(row) + (row[NAME] ? " (" + row[ID] + ")" : "");
    const drawn = element("td", "c-strip");
    drawn.append(strip(row));
    made.append(student, element("td", "c-total n", row[POINTS] === null ? "–" : number(row[POINTS]) + " / " + (data.adjusted[shown[place]] ?? data.max)));
    if (data.notebooks.length > 1) for (const part of row[PARTS]) made.append(element("td", "c-part n", number(part)));
    const flags = element("td", "c-flags n" + (row[FLAGS] ? " alert" : ""), row[FLAGS] ? "⚑ " + row[FLAGS] : "");
    if (row[FLAGS]) flags.setAttribute("aria-label", row[FLAGS] + (row[FLAGS] === 1 ? " flag" : " flags"));
    const graded = row[PARTS].filter((points) => points !== null).length;
    const some = graded && graded < row[PARTS].length ? " " + graded + "/" + row[PARTS].length : "";
    const status = data.statuses[row[STATUS]] + some + (shown[place] in data.adjusted ? "*" : "");
    const alarming = row[POINTS] === null && data.statuses[row[STATUS]] !== "excused";
    made.append(drawn, element("td", "c-status" + (alarming ? " alert" : ""), status), flags);
    return made;
  };

  const spacer = () => {
    const made = element("tr", "gap");
    made.setAttribute("aria-hidden", "true");
    const cell = element("td");
    cell.colSpan = table.tHead.rows[0].cells.length;
    made.append(cell);
    return made;
  };
  const above = spacer(), below = spacer();
  const rendered = new Map();
  const MORE = 12;
  // All rows go on paper, but of a very large class those in view: a browser would not end.
  const MOST_PRINTED = 5000;
  let tall = 37;
  const render = () => {
    const top = body.getBoundingClientRect().top;
    let first = Math.max(0, Math.floor(-top / tall) - MORE);
    let last = Math.min(shown.length, Math.ceil((window.innerHeight - top) / tall) + MORE);
    if (everything) [first, last] = [0, shown.length];
    // The table is never quite empty: a keyboard, or a screen reader, has to find a way in.
    first = Math.max(0, Math.min(first, shown.length - MORE));
    last = Math.max(last, Math.min(first + MORE, shown.length));
    for (const [place, row] of rendered) {
      if (place >= first && place < last) continue;
      // who came here with the keyboard goes on from the table
      if (row.contains(document.activeElement)) table.focus({ preventScroll: true });
      row.remove();
      rendered.delete(place);
    }
    const fresh = [];
    let before = below;
    for (let place = last - 1; place >= first; place--) {
      let row = rendered.get(place);
      if (!row) {
        row = makeRow(place);
        rendered.set(place, row);
        body.insertBefore(row, before);
        fresh.push(place);
      }
      before = row;
    }
    above.firstChild.style.height = first * tall + "px";
    below.firstChild.style.height = (shown.length - last) * tall + "px";
    above.hidden = first === 0;
    below.hidden = last === shown.length;
    for (const place of fresh) drawStrip(rendered.get(place).querySelector("canvas"), data.rows[shown[place]]);
    const one = fresh.length ? rendered.get(fresh[0]).getBoundingClientRect().height : tall;
    if (!everything && one && Math.abs(one - tall) > 0.01) {
      tall = one;
      render();
    }
  };
  let asked = false;
  const soon = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; render(); });
  };
  const again = () => {
    readColours();
    rendered.clear();
    body.replaceChildren(above, below);
    render();
    drawMap();
  };

  for (const head of table.tHead.rows[0].cells) {
    if (!head.dataset.sort) continue;
    head.firstElementChild.addEventListener("click", () => {
      const by = head.dataset.sort;
      // first the students one looks for: the worst, the flagged
      sort = sort.by === by ? { by, down: !sort.down } : { by, down: by === "status" || by === "flags" };
      select();
    });
  }
  form.elements.gradient.addEventListener("input", offer);
  form.addEventListener("input", select);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { offer(); select(); }));
  for (const button of document.querySelectorAll("[data-gradient]")) {
    button.addEventListener("click", () => {
      form.reset();
      setTimeout(() => {
        form.elements.gradient.value = button.dataset.gradient;
        offer();
        // a mistake that is too rare for the list is found all the same
        const wanted = button.dataset.what;
        if (wanted && ![...what.options].some((option) => option.value === wanted)) what.add(new Option(data.kinds[wanted], wanted));
        what.value = wanted || "";
        select();
        document.getElementById("students").scrollIntoView();
        form.elements.gradient.focus({ preventScroll: true });
      });
    });
  }

  // A link to a gradient's mistakes unfolds them.
  const unfold = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  window.addEventListener("hashchange", unfold);
  for (const link of document.querySelectorAll(".missed a")) link.addEventListener("click", () => { document.getElementById(link.hash.slice(1)).open = true; });
  unfold();

  // ---- the heat map: everybody, best first
  const map = document.getElementById("map");
  const order = [...data.rows.keys()].sort((a, b) => values.points(data.rows[b]) - values.points(data.rows[a]) || rank.get(a) - rank.get(b));
  const FONT = "11px ui-monospace, Menlo, Consolas, monospace";
  const called = gradients.map(({ name }) => name.slice(0, 16));
  let geometry = null;
  const drawMap = () => {
    if (!map || !order.length) return;
    const canvas = map.querySelector("canvas");
    const width = map.clientWidth;
    const columns = columnsOf(width, 8);
    const names = columns[0].step >= 12;
    const ruler = canvas.getContext("2d");
    ruler.font = FONT;
    const head = 18 + (names ? Math.ceil(Math.max(...called.map((name) => ruler.measureText(name).width))) : 0);
    const height = Math.min(Math.max(order.length * (order.length <= 40 ? 18 : 3), 60), 440);
    canvas.style.height = head + height + "px";
    const context = sized(canvas, width, head + height);
    geometry = { columns, head, height };
    context.fillStyle = colours.quiet;
    context.font = FONT;
    columns.forEach(({ left, step }, i) => {
      if (i === 0 || starts[i]) context.fillText(gradients[i].notebook.split("_")[0], left, 11);
      if (!names) return;
      context.save();
      context.translate(left + step / 2 + 3, head - 5);
      context.rotate(-Math.PI / 2);
      context.fillText(called[i], 0, 0);
      context.restore();
    });
    // Where there are more students than lines, a line is the mean of several.
    const ratio = window.devicePixelRatio || 1;
    const lines = Math.min(order.length, Math.round(height * ratio));
    const rgb = {};
    for (const letter of ["-", ...Object.keys(data.letters)]) rgb[letter] = parse(colours[letter]);
    const small = document.createElement("canvas");
    small.width = gradients.length;
    small.height = lines;
    const image = small.getContext("2d").createImageData(gradients.length, lines);
    for (let line = 0; line < lines; line++) {
      const from = Math.floor((line * order.length) / lines);
      const to = Math.max(from + 1, Math.floor(((line + 1) * order.length) / lines));
      for (let i = 0; i < gradients.length; i++) {
        let r = 0, g = 0, b = 0;
        for (let at = from; at < to; at++) {
          const colour = rgb[data.rows[order[at]][OUTCOMES][i]];
          r += colour[0]; g += colour[1]; b += colour[2];
        }
        const place = 4 * (line * gradients.length + i), count = to - from;
        image.data[place] = r / count; image.data[place + 1] = g / count; image.data[place + 2] = b / count;
        image.data[place + 3] = 255;
      }
    }
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    const rim = columns[0].step > 5 ? 1 : 0;
    columns.forEach(({ left, step }, i) => context.drawImage(small, i, 0, 1, lines, left, head, step - rim, height));
    if (order.length <= 40) {
      context.fillStyle = colours.card;
      for (let line = 1; line < order.length; line++) context.fillRect(0, head + (line * height) / order.length - 0.5, width, 1);
    }
    mark();
  };
  // the style sheet says colours of data with six digits
  const parse = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const cursor = map && map.querySelector(".cursor");
  let at = null;
  const mark = () => {
    cursor.hidden = !at || !geometry;
    if (cursor.hidden) return;
    const { columns, head, height } = geometry;
    const line = height / order.length, row = data.rows[order[at.line]];
    cursor.style.left = columns[at.column].left - 2 + "px";
    cursor.style.width = columns[at.column].step + 3 + "px";
    cursor.style.top = head + at.line * line - 2 + "px";
    cursor.style.height = Math.max(line, 1) + 3 + "px";
    const letter = row[OUTCOMES][at.column], kind = row[KINDS][at.column];
    const { name, notebook } = gradients[at.column];
    const said = letter === "-" ? "nothing graded" : data.signs[letter] + " " + data.words[letter] + (kind === undefined ? "" : " (" + data.kinds[kind] + ")");
    const points = row[POINTS] === null ? "" : ", " + number(row[POINTS]) + " points";
    const who = element("bdi", "", named(row)), text = document.getElementById("said");
    const code = element("code", "", name);
    text.replaceChildren(who, points + ": ", code, " in " + notebook + ": " + said);
  };
  if (map) {
    const find = (event) => {
      if (!geometry) return;
      const box = map.getBoundingClientRect(), { columns, head, height } = geometry;
      const x = event.clientX - box.left, y = event.clientY - box.top - head;
      const line = Math.min(order.length - 1, Math.max(0, Math.floor((y / height) * order.length)));
      let column = columns.findIndex(({ left, step }) => x < left + step);
      if (column < 0) column = columns.length - 1;
      at = y < 0 ? null : { line, column };
      mark();
    };
    map.addEventListener("pointermove", find);
    map.addEventListener("pointerdown", find);
    map.addEventListener("click", (event) => {
      // a finger's first tap says who it is; Enter or a mouse's click goes there
      if (at && event.pointerType !== "touch") location.href = page(data.rows[order[at.line]]);
    });
    map.addEventListener("pointerleave", () => { at = null; mark(); });
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-50, 0], PageDown: [50, 0], Home: [-1e9, 0], End: [1e9, 0] };
    map.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && at) location.href = page(data.rows[order[at.line]]);
      const move = moves[event.key];
      if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      at = at ? { line: at.line + move[0], column: at.column + move[1] } : { line: 0, column: 0 };
      at.line = Math.min(order.length - 1, Math.max(0, at.line));
      at.column = Math.min(gradients.length - 1, Math.max(0, at.column));
      mark();
    });
  }

  window.addEventListener("scroll", soon, { passive: true });
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return soon();
    width = window.innerWidth;
    again();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  window.addEventListener("beforeprint", () => { everything = shown.length <= MOST_PRINTED; root.classList.add("paper"); again(); });
  window.addEventListener("afterprint", () => { everything = false; root.classList.remove("paper"); again(); });
  select();
  drawMap();
})();
