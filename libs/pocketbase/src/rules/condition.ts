/** A condition in our language. */
export type Condition =
  | 'always'
  | 'never'
  | { readonly kind: 'test'; readonly text: string }
  | { readonly kind: 'and' | 'or'; readonly items: readonly Condition[] }
  | { readonly kind: 'not'; readonly item: Condition }
  | { readonly kind: 'exists'; readonly collection: string; readonly condition: Condition };

export const test = (text: string): Condition => ({ kind: 'test', text });

export const and = (...items: readonly Condition[]): Condition => join('and', items);
export const or = (...items: readonly Condition[]): Condition => join('or', items);

function join(kind: 'and' | 'or', given: readonly Condition[]): Condition {
  const [neutral, decisive] = kind === 'and' ? (['always', 'never'] as const) : (['never', 'always'] as const);
  const flat = given.flatMap((item) => (typeof item === 'object' && item.kind === kind ? item.items : [item]));
  if (flat.includes(decisive)) return decisive;
  const items = [...new Map(flat.filter((item) => item !== neutral).map((item) => [print(item), item])).values()];
  const [only] = items;
  return items.length > 1 ? { kind, items } : (only ?? neutral);
}

export function not(item: Condition): Condition {
  if (item === 'always') return 'never';
  if (item === 'never') return 'always';
  return item.kind === 'not' ? item.item : { kind: 'not', item };
}

/** Whether some record in the collection meets the condition. */
export const exists = (collection: string, condition: Condition): Condition =>
  condition === 'never' ? 'never' : { kind: 'exists', collection, condition };

/** Writes the condition in our language. */
export function print(condition: Condition): string {
  if (condition === 'always') return 'id != null';
  if (condition === 'never') return '1 = 2';
  switch (condition.kind) {
    case 'test':
      return condition.text;
    case 'not':
      return condition.item === 'always' || condition.item === 'never' || condition.item.kind !== 'exists'
        ? isQuantified(condition.item)
          ? `not ${print(condition.item)}`
          : `not (${print(condition.item)})`
        : `not ${print(condition.item)}`;
    case 'exists':
      return `exists(${condition.collection}, ${print(condition.condition)})`;
    default: {
      const { kind, items } = condition;
      const texts = items.map((item) =>
        kind === 'and' && typeof item === 'object' && item.kind === 'or' ? `(${print(item)})` : print(item),
      );
      return texts.join(kind === 'and' ? ' && ' : ' || ');
    }
  }
}

const isQuantified = (condition: Condition): boolean =>
  typeof condition === 'object' && condition.kind === 'test' && /^(all|none)\(/.test(condition.text);

/** A text as a literal in our language. */
export const quote = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
