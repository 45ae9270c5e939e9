import { z } from 'zod';
import type { FieldType } from '../field-type.ts';
import { isOrdered, lengthOptions, notOrdered } from './character-lengths.ts';
import { encryptionOption, isComparable, notComparable } from './encryption.ts';
import { plainText } from './form-text.ts';

/** What types with one unchanged stored text have in common. The empty text is a value. */
export const storedText: Pick<FieldType, 'emptyTextIsNull' | 'columnType' | 'filterKind' | 'formText'> = {
  emptyTextIsNull: false,
  columnType: () => 'text',
  filterKind: () => 'text',
  formText: () => plainText,
};

/** The options for a text with a format: bounds, and either unique or encrypted. */
export const formattedTextOptions = z
  .strictObject({ ...lengthOptions, unique: z.boolean('must be true or false').default(false), ...encryptionOption })
  .refine(isOrdered, notOrdered)
  .refine(isComparable, notComparable);

export type FormattedTextOptions = z.output<typeof formattedTextOptions>;
