import { z } from 'zod';

const defaultPerPage = 30;
const maxPerPage = 1000;
/** Offsets stay within what PostgreSQL counts. */
const maxPage = 1_000_000_000;

const wholeNumber = z.string().regex(/^([+-]?\d+)?$/, 'must be a whole number');

/** `page` and `perPage` as every list reads them (contract §2, List). */
export const pageQuery = z.object({
  page: wholeNumber.default('1').transform((text) => Math.min(Math.max(Number(text), 1), maxPage)),
  perPage: wholeNumber
    .default(`${defaultPerPage}`)
    .transform((text) => (Number(text) > 0 ? Math.min(Number(text), maxPerPage) : defaultPerPage)),
});

/** A text that a column has to be, without NUL, which none has; absent when empty. */
export const exactText = z
  .string()
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .transform((text) => (text === '' ? undefined : text))
  .optional();
