/** A sort term that a client can follow: a record member, ascending or descending. */
interface Term {
  readonly name: string;
  readonly sign: 1 | -1;
}

type AnyRecord = Readonly<Record<string, unknown>>;

const newestFirst: readonly Term[] = [{ name: 'created', sign: -1 }];

/** A sort's terms. By default the newest record comes first (records §3.2). */
function termsOf(sort: string | readonly string[] | undefined): readonly Term[] {
  const texts = (typeof sort === 'string' ? sort.split(',') : (sort ?? [])).map((text) => text.trim()).filter(Boolean);
  if (texts.length === 0) return newestFirst;
  return texts.map((text) => (text.startsWith('-') ? { name: text.slice(1), sign: -1 } : { name: text, sign: 1 }));
}

/**
 * Returns how a sort compares records: nulls last in ascending order, ties by `id` in the last term's direction
 * (filters §9). Texts compare by code points, as the database that comes with the product does.
 */
export function comparatorOf(sort: string | readonly string[] | undefined): (a: AnyRecord, b: AnyRecord) => number {
  const terms = termsOf(sort);
  const last: Term = { name: 'id', sign: terms.at(-1)?.sign ?? 1 };
  return (a, b) => {
    for (const { name, sign } of [...terms, last]) {
      const order = compare(a[name], b[name]) * sign;
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Whether every sort term names a record member. */
export const isSortOfMembers = (sort: string | readonly string[] | undefined): boolean =>
  termsOf(sort).every(({ name }) => /^\w+$/.test(name));

function compare(a: unknown, b: unknown): number {
  const [isMissing, isOtherMissing] = [a === null || a === undefined, b === null || b === undefined];
  if (isMissing || isOtherMissing) return Number(isMissing) - Number(isOtherMissing);
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  return Number(a) - Number(b);
}

/** Compares by code points: surrogates represent characters above all others. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x2000 : unit);

/** Compares versions: the second, then the number after the dot (events §2.5). */
export function compareVersions(a: string, b: string): number {
  const [[second = 0, count = 0], [otherSecond = 0, otherCount = 0]] = [a, b].map((text) =>
    text.split('.').map(Number),
  ) as [number[], number[]];
  return second - otherSecond || count - otherCount;
}
