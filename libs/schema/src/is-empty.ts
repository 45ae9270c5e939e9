/** Whether a value is none for `required`: null, the empty text or the empty list (fields §2.1). */
export const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);
