/** A line in the report. */
export interface Note {
  readonly collection: string;
  readonly field?: string | undefined;
  /** `changed`: taken in another form; `left_out`: not taken; `risk`: to look at. */
  readonly kind: 'changed' | 'left_out' | 'risk';
  readonly text: string;
}
