// A choice in a tree: a search, and levels that open. The select, which is hidden, is the answer.

const MAX_SHOWN = 200; // rows at once; others are found by the search

export function begin(question) {
  const select = question.querySelector("select");
  const tree = new Tree(question, select);
  select.hidden = true;
  question.append(tree.chosen, tree.search, tree.list);
  select.closest("form")?.addEventListener("filled", () => tree.showChosen());
  tree.showChosen();
  if (document.activeElement === question) tree.search.focus(); // its error was focused
}

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

class Tree {
  constructor(question, select) {
    this.select = select;
    this.roots = readNodes(select);
    this.nodes = listAll(this.roots);
    this.open = new Set();
    this.active = null; // the node that the Tab key leads to
    const name = question.querySelector("legend").firstChild.textContent.trim();

    this.chosen = document.createElement("p");
    this.chosen.className = "tree-chosen";
    this.chosen.innerHTML = `<span role="status"></span><button type="button" class="link"></button>`;
    this.chosen.lastChild.textContent = select.dataset.clear;
    this.chosen.lastChild.addEventListener("click", () => {
      this.choose(null);
      this.search.focus();
    });

    this.search = Object.assign(document.createElement("input"), { type: "search", autocomplete: "off" });
    this.search.placeholder = select.dataset.find.replace("{n}", this.nodes.filter(({ value }) => value).length.toLocaleString(document.documentElement.lang));
    this.search.setAttribute("aria-label", `${name}: ${this.search.placeholder}`);
    this.search.addEventListener("input", (event) => {
      event.stopPropagation(); // it is no answer
      this.render();
    });
    this.search.addEventListener("keydown", (event) => this.pressInSearch(event));

    this.list = document.createElement("ul");
    this.list.setAttribute("role", "tree");
    this.list.setAttribute("aria-label", name);
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.list.addEventListener("click", ({ target }) => {
      const node = target.closest("[role=treeitem]")?.node;
      if (node) this.pick(node);
    });
  }

  // What the list shows: the matches of the search, else the open levels.
  rows() {
    const words = fold(this.search.value).split(/\s+/).filter(Boolean);
    if (words.length) return this.nodes.filter((node) => node.value && words.every((word) => node.folded.includes(word)));
    const visible = (nodes) => nodes.flatMap((node) => [node, ...(this.open.has(node) ? visible(node.children) : [])]);
    return visible(this.roots);
  }

  render() {
    const isSearch = this.search.value.trim() !== "";
    const rows = this.rows();
    const shown = rows.slice(0, MAX_SHOWN);
    if (!shown.includes(this.active)) this.active = shown.find(({ value }) => value && value === this.select.value) ?? shown[0];
    this.list.replaceChildren(...shown.map((node) => this.item(node, isSearch)));
    const rest = rows.length - shown.length;
    if (rest || !rows.length) {
      const more = this.list.appendChild(document.createElement("li"));
      more.className = "more";
      more.setAttribute("role", "none");
      more.textContent = rest ? this.select.dataset.more.replace("{n}", rest.toLocaleString(document.documentElement.lang)) : this.select.dataset.none;
    }
  }

  item(node, isSearch) {
    const item = document.createElement("li");
    item.node = node;
    item.dir = "auto";
    item.textContent = isSearch ? node.path.join(" › ") : node.name;
    item.tabIndex = node === this.active ? 0 : -1;
    item.style.setProperty("--level", isSearch ? 0 : node.path.length - 1);
    const states = { role: "treeitem", "aria-level": isSearch ? 1 : node.path.length, "aria-selected": Boolean(node.value) && node.value === this.select.value };
    if (!isSearch && node.children.length) states["aria-expanded"] = this.open.has(node);
    for (const [name, value] of Object.entries(states)) item.setAttribute(name, value);
    return item;
  }

  focus(node) {
    if (!node) return;
    this.active = node;
    this.render();
    const item = [...this.list.children].find((child) => child.node === node);
    item?.focus();
    item?.scrollIntoView({ block: "nearest" });
  }

  press(event) {
    const node = event.target.node;
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...this.list.children].map((child) => child.node).filter(Boolean);
    const place = rows.indexOf(node);
    const isOpen = this.open.has(node);
    const moves = {
      ArrowDown: () => this.focus(rows[place + 1]),
      ArrowUp: () => (place ? this.focus(rows[place - 1]) : this.search.focus()),
      Home: () => this.focus(rows[0]),
      End: () => this.focus(rows.at(-1)),
      ArrowRight: () => (isOpen ? this.focus(node.children[0]) : this.toggle(node, true)),
      ArrowLeft: () => (isOpen ? this.toggle(node, false) : this.focus(node.parent)),
      Enter: () => this.pick(node),
      " ": () => this.pick(node),
    };
    if (moves[event.key]) {
      event.preventDefault();
      moves[event.key]();
    } else if (event.key.length !== 1) return;
    else this.search.focus(); // the key is typed there
    event.stopPropagation(); // not a key of the page
  }

  pressInSearch(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    const first = this.rows()[0];
    if (event.key === "ArrowDown") this.focus(this.active ?? first);
    else if (event.key === "Enter" && this.search.value.trim()) first && this.choose(first);
    else if (event.key !== "Enter") return;
    event.preventDefault();
  }

  toggle(node, isOpen) {
    if (!node.children.length) return;
    if (isOpen) this.open.add(node);
    else this.open.delete(node);
    this.focus(node);
  }

  // Chooses it; the name of a level alone opens or closes it.
  pick(node) {
    if (!node.value) return this.toggle(node, !this.open.has(node));
    this.choose(node);
    this.focus(node);
  }

  choose(node) {
    this.select.value = node?.value ?? "";
    this.select.dispatchEvent(new Event("input", { bubbles: true }));
    this.showChosen();
  }

  showChosen() {
    const node = this.nodes.find(({ value }) => value && value === this.select.value);
    this.search.value = "";
    for (let parent = node?.parent; parent; parent = parent.parent) this.open.add(parent);
    this.chosen.firstChild.textContent = node ? `${this.select.dataset.chosen}: ${node.path.join(" › ")}` : "";
    this.active = node ?? this.active;
    this.render();
    const item = [...this.list.children].find((child) => child.node === node);
    if (item) this.list.scrollTop = item.offsetTop - this.list.clientHeight / 2;
  }
}

// The options by their depth, each with its parent before it.
function readNodes(select) {
  const roots = [];
  const parents = [];
  for (const option of select.options) {
    if (option.dataset.depth === undefined) continue;
    const depth = Number(option.dataset.depth);
    const parent = depth ? parents[depth - 1] : null;
    const name = option.text.trim();
    const path = [...(parent?.path ?? []), name];
    const node = { name, value: option.value, parent, path, folded: fold(path.join(" ")), children: [] };
    (parent?.children ?? roots).push(node);
    parents[depth] = node;
  }
  return roots;
}

const listAll = (nodes) => nodes.flatMap((node) => [node, ...listAll(node.children)]);
