import type { MemberRefusal } from './refusal.ts';

/** How a sentence about a value is said in PocketBase. */
interface Saying {
  /** What the product says. */
  readonly sentence: RegExp;
  readonly code: string;
  /** What PocketBase says; `#` is the number in the sentence. By default, the product's sentence. */
  readonly message?: string;
  /** The name of the number in the sentence. */
  readonly param?: string;
}

const sayings: readonly Saying[] = [
  { sentence: /^is required$/, code: 'validation_required', message: 'Cannot be blank.' },
  { sentence: /^is already taken/, code: 'validation_not_unique', message: 'Value must be unique.' },
  {
    sentence: /^is an account's in another collection/,
    code: 'validation_invalid_auth_id',
    message: 'The auth record id is already used by another auth collection.',
  },
  {
    sentence: /^must look like name@example\.com/,
    code: 'validation_is_email',
    message: 'Must be a valid email address.',
  },
  {
    sentence: /^must have at most (\d+) characters/,
    code: 'validation_max_text_constraint',
    message: 'Must be no more than # character(s).',
    param: 'max',
  },
  {
    sentence: /^must have at least (\d+) characters/,
    code: 'validation_min_text_constraint',
    message: 'Must be at least # character(s).',
    param: 'min',
  },
  {
    sentence: /^must be at most (-?[\d.e+]+)$/,
    code: 'validation_max_number_constraint',
    message: 'Must be less or equal than #.',
    param: 'max',
  },
  {
    sentence: /^must be at least (-?[\d.e+]+)$/,
    code: 'validation_min_number_constraint',
    message: 'Must be greater or equal than #.',
    param: 'min',
  },
  {
    sentence: /^must be a whole number/,
    code: 'validation_only_int_constraint',
    message: 'Decimal numbers are not allowed.',
  },
  { sentence: /^must match /, code: 'validation_invalid_format', message: 'Invalid value format.' },
  { sentence: /^must be an address that starts/, code: 'validation_invalid_url', message: 'Must be a valid url.' },
  {
    sentence: /^refers to no record$|^must (be a record's id|have record ids)$/,
    code: 'validation_missing_rel_records',
    message: 'Failed to find all relation records with the provided ids.',
  },
  { sentence: /^may have at most (\d+) bytes/, code: 'validation_file_size_limit' },
  { sentence: /^must have the type /, code: 'validation_invalid_mime_type' },
  {
    sentence: /^must have at most (\d+) (ids|files|values|entries)/,
    code: 'validation_too_many_values',
    message: 'Select no more than #.',
    param: 'maxSelect',
  },
];

/** Says what is wrong with a value in PocketBase's form. */
export function memberRefusal(sentence: string): MemberRefusal {
  for (const { sentence: pattern, code, message, param } of sayings) {
    const found = pattern.exec(sentence);
    if (!found) continue;
    const number = found[1];
    return {
      code,
      message: message?.replace('#', number ?? '') ?? asSentence(sentence),
      ...(param !== undefined && number !== undefined && { params: { [param]: Number(number) } }),
    };
  }
  return { code: 'validation_invalid_value', message: asSentence(sentence) };
}

const asSentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
