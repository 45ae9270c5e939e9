/** A record as the API shows it. */
export interface LiveRecord {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** The data in messages that change a list. */
export interface ListMessage {
  readonly records?: readonly LiveRecord[];
  readonly record?: LiveRecord;
  readonly id?: string;
  readonly version?: string;
}

/** A list of records that messages keep up to date. */
export class LiveList {
  readonly #records = new Map<string, LiveRecord>();
  /** Each record's last version in a message, including records that have left the list. */
  readonly #versions = new Map<string, string>();

  [Symbol.iterator](): Iterator<LiveRecord> {
    return this.#records.values();
  }

  /** Applies a message. Returns false if the message is not about the list or has nothing new. */
  apply(type: string, { records, record, id = record?.id, version }: ListMessage): boolean {
    if (type === 'snapshot' && records) {
      this.#records.clear();
      this.#versions.clear();
      for (const one of records) this.#records.set(one.id, one);
      return true;
    }
    if (id === undefined || version === undefined || !isLater(version, this.#versions.get(id))) return false;
    this.#versions.set(id, version);
    if (record) this.#records.set(id, record);
    else this.#records.delete(id);
    return true;
  }
}

/** A version is `<second>` or `<second>.<number>`; both parts are compared as numbers. */
function isLater(version: string, known: string | undefined): boolean {
  if (known === undefined) return true;
  const [[second = 0, number = 0], [knownSecond = 0, knownNumber = 0]] = [version, known].map((text) =>
    text.split('.').map(Number),
  ) as [number[], number[]];
  return second === knownSecond ? number > knownNumber : second > knownSecond;
}
