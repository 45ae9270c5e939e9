import { createRequire } from 'node:module';
import type { Country } from 'world-countries';

// The types describe the package's ES module, but Node loads the CommonJS one, which is the array itself.
const countries: readonly Country[] = createRequire(import.meta.url)('world-countries');

/** A collection's record ids by code. */
type Ids = ReadonlyMap<string, string>;
export type IdsByCollection = Readonly<Record<string, Ids>>;

export interface Draft {
  readonly code: string;
  readonly [field: string]: unknown;
}

/** Each collection's records, made with the ids of the records that they refer to. */
export const dataSet: Readonly<Record<string, (ids: IdsByCollection) => Draft[]>> = {
  regions: () => distinct(countries.map(({ region }) => ({ code: regionCode(region), name: region }))),
  subregions: (ids) =>
    distinct(
      countries
        .filter(({ subregion }) => subregion)
        .map(({ region, subregion }) => ({
          code: subregion,
          name: subregion,
          region: idOf(ids, 'regions', regionCode(region)),
        })),
    ),
  currencies: () =>
    distinct(countries.flatMap((country) => Object.entries(country.currencies)).map(([code, it]) => ({ code, ...it }))),
  languages: () =>
    distinct(countries.flatMap((country) => Object.entries(country.languages)).map(([code, name]) => ({ code, name }))),
  countries: (ids) => countries.map((country) => describe(country, ids)),
  country_languages: (ids) =>
    countries.flatMap(({ cca2, languages }) =>
      Object.keys(languages).map((language) => ({
        code: `${cca2}-${language}`,
        country: idOf(ids, 'countries', cca2),
        language: idOf(ids, 'languages', language),
      })),
    ),
};

function describe(country: Country, ids: IdsByCollection): Draft {
  const [lat, lng] = country.latlng;
  return {
    code: country.cca2,
    name: country.name.common,
    official_name: country.name.official,
    status: country.status,
    independent: country.independent,
    un_member: country.unMember,
    capital: country.capital.join(', '),
    // The source has -1 for an unknown area.
    area_km2: country.area < 0 ? null : country.area,
    location: { lat, lng },
    translations: Object.fromEntries(Object.entries(country.translations).map(([tongue, it]) => [tongue, it.common])),
    flag: country.flag,
    region: idOf(ids, 'regions', regionCode(country.region)),
    subregion: country.subregion ? idOf(ids, 'subregions', country.subregion) : null,
    currency: firstOf(country.currencies, (currency) => idOf(ids, 'currencies', currency)),
    visits: 0,
  };
}

const regionCode = (region: string): string => region.slice(0, 3).toUpperCase();

function firstOf(object: object, idOfKey: (key: string) => string): string | null {
  const [key] = Object.keys(object);
  return key === undefined ? null : idOfKey(key);
}

function idOf(ids: IdsByCollection, collection: string, code: string): string {
  const id = ids[collection]?.get(code);
  if (!id) throw new Error(`no ${collection} record with code ${code}`);
  return id;
}

/** Removes duplicates: several countries name the same currency or language, sometimes differently. */
const distinct = (drafts: readonly Draft[]): Draft[] => [
  ...new Map(drafts.map((draft) => [draft.code, draft])).values(),
];
