/** A record member that an update changed. */
export interface MemberChange {
  readonly name: string;
  readonly from: unknown;
  readonly to: unknown;
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the changes in an update event's body. Empty for other events (webhooks §3.3). */
export function changesIn(body: Members): readonly MemberChange[] {
  const { data } = body;
  if (!isObject(data) || !Array.isArray(data.changed)) return [];
  const [from, to] = [data.previous, data.record].map((one) => (isObject(one) ? one : {}));
  return data.changed.slice(0, 200).map((name) => ({ name: String(name), from: from?.[name], to: to?.[name] }));
}
