import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

type Tree = DefaultTreeAdapterTypes.ChildNode;

/** Names for the same markup. */
const sameAs: ReadonlyMap<string, string> = new Map([
  ['b', 'strong'],
  ['i', 'em'],
  ['del', 's'],
  ['strike', 's'],
]);
/** Elements that only divide a text. */
const plain: ReadonlySet<string> = new Set(['div', 'p', 'span', 'tbody', 'thead', 'tfoot']);

/** Returns the markup in a text that another version of it lacks, and whether the words differ. */
export function lostMarkup(before: string, after: string): readonly string[] {
  const [from, to] = [new Parts(before), new Parts(after)];
  const lost = [...from.counts].filter(([part, count]) => count > (to.counts.get(part) ?? 0));
  const names = lost.map(([part]) => part.slice(0, part.indexOf('>') + 1));
  return [...new Set(from.text === to.text ? names : [...names, 'words'])];
}

/** Counts a text's elements and attributes, and collects its words. */
class Parts {
  readonly counts = new Map<string, number>();
  text = '';

  constructor(html: string) {
    this.#add(parseFragment(html).childNodes);
    this.text = this.text.replace(/[ \t\r\n\f]+/g, '');
  }

  #add(nodes: readonly Tree[]): void {
    for (const node of nodes) {
      if (node.nodeName === '#comment') this.#count('<!-- -->');
      if (node.nodeName === '#text' && 'value' in node) this.text += node.value;
      if (!('tagName' in node)) continue;
      const name = sameAs.get(node.tagName) ?? node.tagName;
      if (!plain.has(name)) this.#count(`<${name}>`);
      for (const { name: attribute, value } of node.attrs) this.#count(`<${name} ${attribute}>${value}`);
      this.#add(node.childNodes);
      // Its text is in a tree of its own.
      if ('content' in node) this.#count('<template>');
    }
  }

  #count(part: string): void {
    this.counts.set(part, (this.counts.get(part) ?? 0) + 1);
  }
}
