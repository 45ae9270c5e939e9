/**
 * Which numeric dates are read in addition to ISO 8601: none, `01/31/2026` only, or dates in one order of day and month, with `/`,
 * `.` or `-` between them.
 */
export type NumericDates = 'none' | 'slashes' | 'mdy' | 'dmy';

/** Larger numbers are milliseconds by mistake; 10^11 seconds are in the year 5138. */
export const maxSeconds = 1e11;

/** The last second that a `Date` can show; the first one is its negative. */
const lastSecond = 8.64e12;

/** Longer than any date's text. */
const maxTextLength = 100;

/** The names of the weekdays from Sunday on, and of the months, as far as they are compared. */
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Hours east of Greenwich by the names of RFC 5322 §4.3. */
const namedZones: Readonly<Record<string, number>> = {
  ...{ z: 0, ut: 0, utc: 0, gmt: 0 },
  ...{ est: -5, edt: -4, cst: -6, cdt: -5, mst: -7, mdt: -6, pst: -8, pdt: -7 },
};

const month =
  '(?<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?';
const weekday =
  '(?:(?<weekday>mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)\\.? )?';
const day = '(?<day>\\d{1,2})';
const ordinalDay = `${day}(?:st|nd|rd|th)?`;
const fraction = '(?:[.,](?<fraction>\\d+))?';
const clock = `(?<hour>\\d{2}):(?<minute>\\d{2})(?::(?<second>\\d{2})${fraction})?`;
/** A clock that people write: `9:30`, `9:30 PM`. */
const spokenClock = `(?<hour>\\d{1,2}):(?<minute>\\d{2})(?::(?<second>\\d{2})${fraction})?(?: ?(?<half>[ap])m)?`;
const offset = '(?<sign>[+-])(?<zoneHour>\\d{2})(?::?(?<zoneMinute>\\d{2}))?';
/** `Z`, `+01:00`, `EST`, or `GMT+0100` as JavaScript writes it. */
const zone = `(?: ?(?<zone>z|utc?|gmt|[ecmp][sd]t))?(?: ?${offset})?`;
const spokenTime = `(?:(?: at)? ${spokenClock})?${zone}`;

const pattern = (text: string) => new RegExp(`^${text}$`, 'i');

const isoForms = [
  pattern('(?<year>\\d{4}|[+-]\\d{6})-(?<month>\\d{2})'),
  pattern(`(?<year>\\d{4}|[+-]\\d{6})-(?<month>\\d{2})-(?<day>\\d{2})(?:[t ]${clock})?${zone}`),
  pattern(
    `(?<year>\\d{4})(?<month>\\d{2})(?<day>\\d{2})t(?<hour>\\d{2})(?<minute>\\d{2})(?:(?<second>\\d{2})${fraction})?${zone}`,
  ),
];

/** Dates with a month name: HTTP dates, mail dates, and dates as people write them. Commas count as spaces. */
const namedForms = [
  pattern(`${weekday}${ordinalDay}(?: |(?<dash>-))${month}[ -](?<year>\\d{4}|\\d{2}(?= ))${spokenTime}`),
  pattern(`${weekday}${month}[ -]${ordinalDay}[ -](?<year>\\d{4})${spokenTime}`),
  // C's asctime, and `date` of Unix.
  pattern(`${weekday}${month} ${day} ${clock}${zone} (?<year>\\d{4})`),
  pattern(`(?<year>\\d{4})[ -]${month}[ -]${ordinalDay}${spokenTime}`),
];

const numeric = (first: string, second: string, separator: string) =>
  pattern(`${first}(?<separator>${separator})${second}\\k<separator>(?<year>\\d{4})${spokenTime}`);
const monthNumber = '(?<month>\\d{1,2})';

const numericForms: Readonly<Record<NumericDates, readonly RegExp[]>> = {
  none: [],
  slashes: [numeric(monthNumber, day, '/')],
  mdy: [numeric(monthNumber, day, '[./-]')],
  dmy: [numeric(day, monthNumber, '[./-]')],
};

/**
 * Reads a date's text as unix seconds, cut towards the past; undefined for any other text, and for a day that the
 * calendar lacks. Without a zone the text is in UTC (fields §3.6). `Date.parse` is no help: it takes the process's
 * zone, and reads `room 12` as a day in 2001.
 */
export function readDateText(text: string, numericDates: NumericDates = 'slashes'): number | undefined {
  if (text.length > maxTextLength) return undefined;
  const trimmed = text.trim();
  // Mails have the zone's name in a comment.
  const spaced = trimmed
    .replace(/\([^()]*\)/g, ' ')
    .replace(/[\s,]+/g, ' ')
    .trim();
  const found = match(isoForms, trimmed) ?? match(namedForms, spaced) ?? match(numericForms[numericDates], spaced);
  return found && secondsOf(found);
}

type Parts = Readonly<Record<string, string | undefined>>;

function match(forms: readonly RegExp[], text: string): Parts | undefined {
  for (const form of forms) {
    const groups = form.exec(text)?.groups;
    if (groups) return groups;
  }
  return undefined;
}

const daySeconds = 86_400;

function secondsOf(parts: Parts): number | undefined {
  const year = yearOf(parts);
  const monthIndex = parts.name ? months.indexOf(parts.name.slice(0, 3).toLowerCase()) : Number(parts.month) - 1;
  const dayOfMonth = Number(parts.day ?? 1);
  const time = clockSeconds(parts);
  const zoneSeconds = offsetSeconds(parts);
  if (year === undefined || time === undefined || zoneSeconds === undefined) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, monthIndex, dayOfMonth);
  if (date.getUTCMonth() !== monthIndex || date.getUTCDate() !== dayOfMonth) return undefined;
  // RFC 5322 §3.3: the weekday must be the date's.
  const named = parts.weekday?.slice(0, 3).toLowerCase();
  if (named !== undefined && weekdays[date.getUTCDay()] !== named) return undefined;
  const seconds = date.getTime() / 1000 + time - zoneSeconds;
  if (Math.abs(seconds) > lastSecond) return undefined;
  // A leap second is the last one of a day in UTC.
  return parts.second === '60' && seconds % daySeconds !== 0 ? undefined : seconds;
}

function yearOf({ year = '', dash }: Parts): number | undefined {
  if (year === '-000000') return undefined;
  const number = Number(year);
  if (year.length !== 2) return number;
  // RFC 5322 §4.3 for mails. RFC 9110 §5.6.7: at most 50 years in the future.
  if (dash === undefined) return number + (number < 50 ? 2000 : 1900);
  const latest = new Date().getUTCFullYear() + 50;
  return number + Math.floor((latest - number) / 100) * 100;
}

/** The seconds since midnight, without the fraction; undefined for a time that no clock shows. */
function clockSeconds({
  hour = '0',
  minute = '0',
  second = '0',
  fraction: rest = '0',
  half,
}: Parts): number | undefined {
  let hours = Number(hour);
  if (half !== undefined) {
    if (hours < 1 || hours > 12) return undefined;
    hours = (hours % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  }
  const [minutes, seconds] = [Number(minute), Number(second)];
  if (hours > 24 || minutes > 59 || seconds > 60) return undefined;
  if (hours === 24 && minutes + seconds + Number(rest) > 0) return undefined;
  return hours * 3600 + minutes * 60 + seconds;
}

function offsetSeconds({ zone: name = '', sign, zoneHour = '0', zoneMinute = '0' }: Parts): number | undefined {
  const [hours, minutes] = [Number(zoneHour), Number(zoneMinute)];
  const isTwice = sign !== undefined && name !== '' && !/^(utc?|gmt)$/i.test(name);
  if (isTwice || hours > 23 || minutes > 59) return undefined;
  const seconds = (hours * 60 + minutes) * 60;
  return (namedZones[name.toLowerCase()] ?? 0) * 3600 + (sign === '-' ? -seconds : seconds);
}

/** Unix seconds as a write takes them: a larger number than `maxSeconds` as text. */
export const writtenSeconds = (seconds: number): number | string =>
  Math.abs(seconds) > maxSeconds ? new Date(seconds * 1000).toISOString() : seconds;

/** Reads unix seconds or a date. A value that is neither gets a sentence that says what is wrong (fields §3.6). */
export function readDateValue(value: unknown, numericDates: NumericDates = 'slashes'): number | string {
  if (typeof value === 'number') {
    if (Math.abs(value) > maxSeconds) return 'must be unix seconds; are these milliseconds?';
    return Number.isNaN(value) ? notADate : Math.floor(value);
  }
  const seconds = typeof value === 'string' ? readDateText(value, numericDates) : undefined;
  if (seconds !== undefined) return seconds;
  return numericDates === 'none' && typeof value === 'string' && match(likelyForms, value.trim())
    ? `${notADate}; for days and months in another order set dates=mdy or dates=dmy`
    : notADate;
}

const notADate = 'must be unix seconds or a date such as 2026-01-31T12:00:00Z';

/** Dates that an import reads once it knows their order. */
const likelyForms = [...numericForms.mdy, ...numericForms.dmy];
