import { flag, freeText, pageQuery } from '@recordbus/http';
import { boundedText } from '@recordbus/text/bounded-text';

const paths = 'field paths, separated by commas';

/** Longer than any time zone's name. */
const maxTimeZoneLength = 64;

/** An aggregate's query parameters (records §16.1). */
export const aggregateQuery = pageQuery.extend({
  group: freeText.describe(`${paths}, or day(path), week(path), month(path), year(path); one group without`),
  count: flag.describe('count the records in each group'),
  sum: freeText.describe(`${paths}, to sum up`),
  avg: freeText.describe(`${paths}, whose average to compute`),
  min: freeText.describe(`${paths}, whose least value to find`),
  max: freeText.describe(`${paths}, whose greatest value to find`),
  filter: freeText.describe('an expression in the filter language that selects records'),
  having: freeText.describe("an expression over the answer's members that selects groups"),
  sort: freeText.describe("the answer's members, separated by commas; - before a name sorts descending"),
  tz: boundedText(maxTimeZoneLength).optional().describe('time zone for periods, as an IANA name; UTC by default'),
});
