/** Whether `required` treats a value as missing: null, the empty text and the empty list (fields §2.1). */
export const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);
