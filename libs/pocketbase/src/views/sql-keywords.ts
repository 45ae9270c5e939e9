const keywords = new Set(
  `all and as asc between by case cast collate cross current_date current_time current_timestamp desc distinct else end escape
except exists false filter first following from full group having in inner intersect is isnull join last left like limit
natural not notnull null nulls offset on or order outer over partition preceding range recursive right row rows select then
true unbounded union using values when where window with`.split(/\s+/),
);

/** Whether a word, in lower case, belongs to a SELECT's grammar. */
export const isKeyword = (word: string): boolean => keywords.has(word);
