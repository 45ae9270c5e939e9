const words = (text: string): string[] => text.trim().split(/\s+/);

/**
 * The functions that a view's query may call (views §2.5). They compute from their arguments alone. Functions that can
 * read a file, run another query, read a setting or a secret, or wait on purpose are not in the list.
 */
export const allowedFunctions: ReadonlySet<string> = new Set([
  // Aggregates and windows
  ...words(`any_value array_agg avg bool_and bool_or corr count every json_agg json_object_agg jsonb_agg
    jsonb_object_agg max min mode percentile_cont percentile_disc stddev stddev_pop stddev_samp string_agg sum var_pop
    var_samp variance cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number`),
  // Text
  ...words(`ascii bit_length btrim char_length character_length chr concat concat_ws initcap left length like_escape
    lower lpad ltrim md5 normalize octet_length overlay position quote_literal regexp_count regexp_instr regexp_like
    regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr replace reverse
    right rpad rtrim similar_to_escape split_part starts_with string_to_array string_to_table strpos substr substring
    to_char to_date to_number to_timestamp translate trim upper`),
  // Numbers
  ...words(`abs acos asin atan atan2 ceil ceiling cos cot degrees div exp floor gcd lcm ln log log10 mod pi pow power
    radians round scale sign sin sqrt cbrt tan trunc width_bucket`),
  // Time
  ...words(`age date_bin date_part date_trunc extract isfinite justify_days justify_hours justify_interval make_date
    make_interval make_time make_timestamp make_timestamptz now statement_timestamp timezone transaction_timestamp`),
  // JSON
  ...words(`json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each
    json_each_text json_extract_path json_extract_path_text json_object_keys json_strip_nulls json_typeof
    jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each
    jsonb_each_text jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_extract_path jsonb_extract_path_text
    jsonb_insert jsonb_object_keys jsonb_path_exists jsonb_path_query jsonb_path_query_array jsonb_path_query_first
    jsonb_set jsonb_strip_nulls jsonb_typeof to_json to_jsonb`),
  // Lists and series
  ...words(`array_append array_cat array_length array_position array_positions array_prepend array_remove array_replace
    array_to_json array_to_string cardinality generate_series generate_subscripts num_nonnulls num_nulls unnest`),
]);

/** Types that a value may be cast to, by PostgreSQL's names. Types that look something up (`regclass`) are not allowed. */
export const allowedTypes: ReadonlySet<string> = new Set(
  words(`bool int2 int4 int8 float4 float8 numeric text varchar bpchar date time timetz timestamp timestamptz interval
    json jsonb uuid`),
);

/** The parser's node types that a query may contain. */
export const allowedSyntax: ReadonlySet<string> = new Set(
  words(`SelectStmt ResTarget ColumnRef A_Star String Integer Float Boolean BitString A_Const A_Expr BoolExpr NullTest
    BooleanTest CaseExpr CaseWhen CoalesceExpr MinMaxExpr A_ArrayExpr A_Indirection A_Indices RowExpr FuncCall
    NamedArgExpr TypeCast TypeName CollateClause SubLink SQLValueFunction SortBy WindowDef GroupingSet GroupingFunc List
    RangeVar RangeSubselect RangeFunction JoinExpr Alias WithClause CommonTableExpr`),
);

/** SQL functions without parentheses that return the time. The others return the user or the database. */
export const allowedTimeFunctions: ReadonlySet<string> = new Set(
  words(`SVFOP_CURRENT_DATE SVFOP_CURRENT_TIME SVFOP_CURRENT_TIME_N SVFOP_CURRENT_TIMESTAMP SVFOP_CURRENT_TIMESTAMP_N
    SVFOP_LOCALTIME SVFOP_LOCALTIME_N SVFOP_LOCALTIMESTAMP SVFOP_LOCALTIMESTAMP_N`),
);
