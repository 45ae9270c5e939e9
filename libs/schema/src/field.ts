/** A field of a collection, its options complete and checked (interface §2.2). */
export interface Field {
  /** Stable over renames: another name under the same id renames the column and keeps its data (contract §8). */
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly system: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  /** Name of the target collection; relation fields only. */
  readonly collection?: string;
}
