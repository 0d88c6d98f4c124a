-- What signing reads beside the text: data that Python fills in, so that it is never computed in two ways.
-- dbsim_unicode: code points first .. last become prefix, then the character shift places on (if shift is not NULL),
-- then suffix; one that no row lists becomes a space. Text is UTF-8, or \nnn escapes of it in other encodings.
CREATE TABLE IF NOT EXISTS dbsim_unicode (
    profile text COLLATE "C" NOT NULL, first integer NOT NULL, last integer NOT NULL,
    prefix text NOT NULL, shift integer, suffix text NOT NULL, PRIMARY KEY (profile, first)
);
-- dbsim_donor: where an empty part of a MinHash looks, in this order (parts are numbered from 1).
CREATE TABLE IF NOT EXISTS dbsim_donor (
    positions integer NOT NULL, part integer NOT NULL, donors integer[] NOT NULL, PRIMARY KEY (positions, part)
);
-- dbsim_constant: numbers of one index, such as the primes of its fingerprints, or the expected shares of a language.
CREATE TABLE IF NOT EXISTS dbsim_constant (
    index_name text NOT NULL, name text NOT NULL, numbers bigint[] NOT NULL, reals float8[] NOT NULL,
    PRIMARY KEY (index_name, name)
);
