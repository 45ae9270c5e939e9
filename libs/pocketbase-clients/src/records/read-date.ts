/** A time that a text names, its parts still texts. */
interface Parts {
  readonly year: string;
  /** A number, or the beginning of an English name. */
  readonly month: string;
  readonly day: string;
  readonly hour?: string;
  readonly minute?: string;
  readonly second?: string;
  /** `+02:00`, `-0500`; a name such as `Z`, `GMT` or `CET` is UTC, as in Go. */
  readonly zone?: string;
}

const clock = String.raw`(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,]\d+)?)?`;
const offset = String.raw`[+-]\d\d:?\d\d`;
const named = '[A-Z]{3,5}';
const weekday = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const month = '(?<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';

/** The forms that PocketBase reads. Without a zone a time is UTC, never the server's. */
const forms = [
  String.raw`(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)`,
  String.raw`(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)[T ]${clock}(?<zone>Z|${offset})?`,
  String.raw`(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d) ${clock} (?<zone>${offset})(?: ${named})?`,
  String.raw`(?<day>\d\d) ${month} (?<year>\d{4})`,
  String.raw`${weekday}, (?<day>\d\d) ${month} (?<year>\d{4}) ${clock} (?<zone>${offset}|${named})`,
  String.raw`(?<day>\d\d) ${month} (?<year>\d\d) ${clock} (?<zone>${offset}|${named})`,
  String.raw`[A-Z][a-z]+day, (?<day>\d\d)-${month}-(?<year>\d\d) ${clock} (?<zone>${named})`,
  String.raw`${weekday} ${month} +(?<day>\d{1,2}) ${clock}(?: (?<zone>${offset}|${named}))? (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

const maxLength = 64;

/** Reads a text as PocketBase does. Returns the time in ISO 8601, or null where PocketBase stores no date. */
export function readDate(text: string): string | null {
  if (text.length > maxLength) return null;
  for (const form of forms) {
    const parts = form.exec(text)?.groups;
    if (parts) return toIso(parts as unknown as Parts);
  }
  return null;
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function toIso({ year, month, day, hour = '0', minute = '0', second = '0', zone = '' }: Parts): string | null {
  const monthNumber = monthNames.includes(month) ? monthNames.indexOf(month) + 1 : Number(month);
  const [dayNumber, hours, minutes, seconds] = [day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(fullYear(year), monthNumber - 1, dayNumber);
  // A day that its month does not have is one of the next month.
  if (date.getUTCMonth() !== monthNumber - 1 || date.getUTCDate() !== dayNumber) return null;
  date.setUTCHours(hours, minutes - offsetMinutes(zone), seconds);
  // PocketBase's zero time means that there is none.
  return date.getUTCFullYear() < 1 || date.getTime() === zeroMs ? null : date.toISOString();
}

const zeroMs = Date.parse('0001-01-01T00:00:00Z');

/** Two digits are a year from 1969 to 2068. */
function fullYear(year: string): number {
  const number = Number(year);
  if (year.length > 2) return number;
  return number >= 69 ? 1900 + number : 2000 + number;
}

function offsetMinutes(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  return sign === undefined ? 0 : (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
}
