import { type AttributeSpec, type Attrs, type MarkSpec, type NodeSpec, Schema } from 'prosemirror-model';
import { tableNodes } from 'prosemirror-tables';
import { isSafeImage, isSafeLink, keptName, shownStyle } from './kept-attributes.ts';

const keptOf = (dom: HTMLElement): string | null => dom.getAttribute(keptName);
const withKept = { kept: { default: null, validate: 'string|null' } } satisfies Record<string, AttributeSpec>;

/** The attributes that an element shows for what it keeps. */
const shown = ({ kept }: Attrs): Attrs => ({ [keptName]: kept, style: shownStyle(kept) });

/** An element that contains others, or text. */
const element = (tag: string, spec: NodeSpec): NodeSpec => ({
  ...spec,
  attrs: withKept,
  parseDOM: [{ tag, getAttrs: (dom) => ({ kept: keptOf(dom) }) }],
  toDOM: ({ attrs }) => [tag, shown(attrs), 0],
});

/** A mark without attributes. Its first tag is the one that is written. */
const mark = (tag: string, ...others: readonly string[]): MarkSpec => ({
  parseDOM: [tag, ...others].map((name) => ({ tag: name })),
  toDOM: () => [tag, 0],
});

const levels = [1, 2, 3, 4, 5, 6];

const tables = tableNodes({
  tableGroup: 'block',
  cellContent: 'block+',
  cellAttributes: {
    kept: {
      default: null,
      getFromDOM: keptOf,
      setDOMAttr: (value, attributes) => {
        Object.assign(attributes, shown({ kept: value }));
      },
    },
  },
});

/** What a rich text may contain. What is not here is neither read, pasted, nor shown. */
export const schema = new Schema({
  nodes: {
    doc: { content: 'block+' },
    paragraph: element('p', { content: 'inline*', group: 'block' }),
    heading: {
      content: 'inline*',
      group: 'block',
      defining: true,
      attrs: { ...withKept, level: { default: 2, validate: 'number' } },
      parseDOM: levels.map((level) => ({ tag: `h${level}`, getAttrs: (dom) => ({ level, kept: keptOf(dom) }) })),
      toDOM: ({ attrs }) => [`h${attrs.level}`, shown(attrs), 0],
    },
    blockquote: element('blockquote', { content: 'block+', group: 'block', defining: true }),
    bullet_list: element('ul', { content: 'list_item+', group: 'block' }),
    ordered_list: element('ol', { content: 'list_item+', group: 'block' }),
    list_item: element('li', { content: 'paragraph block*', defining: true }),
    code_block: {
      content: 'text*',
      marks: '',
      group: 'block',
      code: true,
      defining: true,
      attrs: { ...withKept, inner: { default: null, validate: 'string|null' } },
      parseDOM: [
        {
          tag: 'pre',
          preserveWhitespace: 'full',
          getAttrs: (dom) => ({ kept: keptOf(dom), inner: dom.querySelector('code')?.getAttribute(keptName) ?? null }),
        },
      ],
      toDOM: ({ attrs }) => ['pre', shown(attrs), ['code', { [keptName]: attrs.inner }, 0]],
    },
    horizontal_rule: { group: 'block', parseDOM: [{ tag: 'hr' }], toDOM: () => ['hr'] },
    table: { ...tables.table, ...element('table', {}), content: 'table_row+' },
    table_row: { ...tables.table_row, ...element('tr', {}) },
    table_cell: tables.table_cell,
    table_header: tables.table_header,
    text: { group: 'inline' },
    image: {
      inline: true,
      group: 'inline',
      draggable: true,
      attrs: { ...withKept, src: { validate: 'string' }, alt: { default: null, validate: 'string|null' } },
      parseDOM: [
        {
          tag: 'img[src]',
          getAttrs: (dom) => {
            const src = dom.getAttribute('src') ?? '';
            return isSafeImage(src) && { src, alt: dom.getAttribute('alt'), kept: keptOf(dom) };
          },
        },
      ],
      toDOM: ({ attrs }) => ['img', { src: attrs.src, alt: attrs.alt, [keptName]: attrs.kept }],
    },
    hard_break: {
      inline: true,
      group: 'inline',
      selectable: false,
      linebreakReplacement: true,
      parseDOM: [{ tag: 'br' }],
      toDOM: () => ['br'],
    },
  },
  marks: {
    link: {
      attrs: { ...withKept, href: { validate: 'string' } },
      inclusive: false,
      parseDOM: [
        {
          tag: 'a[href]',
          getAttrs: (dom) => {
            const href = dom.getAttribute('href') ?? '';
            return isSafeLink(href) && { href, kept: keptOf(dom) };
          },
        },
      ],
      toDOM: ({ attrs }) => ['a', { href: attrs.href, [keptName]: attrs.kept }, 0],
    },
    span: {
      attrs: { kept: { validate: 'string' } },
      parseDOM: [{ tag: `span[${keptName}]`, getAttrs: (dom) => ({ kept: keptOf(dom) }) }],
      toDOM: ({ attrs }) => ['span', { [keptName]: attrs.kept }, 0],
    },
    strong: mark('strong', 'b'),
    em: mark('em', 'i'),
    underline: mark('u'),
    strike: mark('s', 'del', 'strike'),
    sub: mark('sub'),
    sup: mark('sup'),
    code: { ...mark('code'), code: true },
  },
});
