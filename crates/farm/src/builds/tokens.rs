//! Tokens and their permissions, and the audit log of the requests made with them. A token's secret
//! is returned only when it is created or rotated. The store keeps only a hash of it.

use crate::builds::coded::{from_json, json};
use crate::builds::error::{FarmError, Stop};
use crate::builds::model::Scope;
use crate::builds::store::{Store, added};
use crate::builds::wire::{AuditEntry, MadeToken, NewToken, Page, Token};
use crate::builds::{names, paging, secrets, sql, when};
use assay_history::db::{Db, DbError, Row, values};

/// First word of each token's text, by which secret scanners recognize it.
const PREFIX: &str = "assay";

impl Store {
    /// Creates a token and returns it with its secret.
    ///
    /// # Errors
    /// If the request is invalid, or writing to the store fails.
    pub fn add_token(&self, new: &NewToken, now: i64) -> Result<MadeToken, FarmError> {
        self.add_token_with(new, now, |_| Ok(()))
    }

    /// Creates a token and passes it to `keep`, which saves its secret. If `keep` fails, no token
    /// is created.
    ///
    /// # Errors
    /// If `keep` or [`Store::add_token`] fails.
    pub fn add_token_with(
        &self,
        new: &NewToken,
        now: i64,
        keep: impl FnOnce(&MadeToken) -> Result<(), FarmError>,
    ) -> Result<MadeToken, FarmError> {
        names::checked("a token", &new.name)?;
        if (new.scope == Scope::Agent) != new.node.is_some() {
            return Err(FarmError::Bad(
                "a token of scope `agent` must name a node, and no other token may".to_owned(),
            ));
        }
        new.node.as_deref().map_or(Ok(()), |node| names::plain("a node", node))?;
        new.owner.as_deref().map_or(Ok(()), |owner| names::plain("an owner", owner))?;
        if new.scope == Scope::Admin && new.owner.is_some() {
            return Err(FarmError::Bad("a token of scope `admin` cannot have an owner".to_owned()));
        }
        let until = new.until.as_deref().map(when::read).transpose()?;
        if until.is_some_and(|until| until <= now) {
            return Err(FarmError::Bad("until: this time has passed".to_owned()));
        }
        let (secret, said) = (secrets::fresh()?, json(new)?);
        self.alone(|db| {
            let hash = secrets::hash(&secret);
            let id = added(db, sql::ADD_TOKEN, values![&said, hash.as_slice(), now, until])?;
            let made = MadeToken { token: token(db, id)?, secret: full_secret(id, &secret) };
            keep(&made)?;
            Ok(made)
        })
    }

    /// Replaces the secret of a token. The old secret becomes invalid immediately.
    ///
    /// # Errors
    /// If the token does not exist, or writing to the store fails.
    pub fn rotate_token(&self, id: i64) -> Result<MadeToken, FarmError> {
        let secret = secrets::fresh()?;
        self.alone(|db| {
            let hash = secrets::hash(&secret);
            if db.execute(sql::ROTATE_TOKEN, values![id, hash.as_slice()])? == 0 {
                return Err(no_token(id).into());
            }
            Ok(MadeToken { token: token(db, id)?, secret: full_secret(id, &secret) })
        })
    }

    /// Revokes a token and returns it.
    ///
    /// # Errors
    /// If the token does not exist, or writing to the store fails.
    pub fn remove_token(&self, id: i64) -> Result<Token, FarmError> {
        self.alone(|db| {
            let token = token(db, id)?;
            db.execute(sql::REMOVE_TOKEN, values![id])?;
            Ok(token)
        })
    }

    /// Returns a page of tokens, in the order in which they were created.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn tokens(&self, after: Option<&str>, most: i64) -> Result<Page<Token>, FarmError> {
        let after = paging::number(after)?.unwrap_or(0);
        let found = self.look(|db| {
            let rows = db.rows(sql::TOKENS, values![after, most + 1], token_row)?;
            rows.into_iter().map(read).collect::<Result<Vec<_>, Stop>>()
        })?;
        Ok(paging::page(found, most, |token| token.id.to_string()))
    }

    /// Returns true if any token was ever created.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn has_tokens(&self) -> Result<bool, FarmError> {
        self.look(|db| Ok(db.first::<i64>(sql::ANY_TOKEN, &[])?.is_some()))
    }

    /// Returns the token with this secret, or `None` if it is forged, revoked or expired. Hashes
    /// are compared in constant time, so the duration of the call does not reveal the secret.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn token_of(&self, secret: &str, now: i64) -> Result<Option<Token>, FarmError> {
        let Some((id, secret)) = parts(secret) else { return Ok(None) };
        self.look(|db| {
            let found = db.rows(sql::TOKEN_SECRET, values![id], |row| {
                Ok((row.get::<Vec<u8>>(4)?, row.get::<Option<i64>>(5)?, Some(token_row(row)?)))
            })?;
            let none = (vec![0; 32], None, None);
            let (hash, until, row) = found.into_iter().next().unwrap_or(none);
            let is_it = secrets::equal(&hash, &secrets::hash(secret));
            let is_over = until.is_some_and(|until| until <= now);
            row.filter(|_| is_it && !is_over).map(read).transpose()
        })
    }

    /// Stores when tokens were last used. Each item is the number of a token and a time in ms since
    /// 1970.
    ///
    /// # Errors
    /// If writing to the store fails.
    pub fn used(&self, tokens: &[(i64, i64)]) -> Result<(), FarmError> {
        if tokens.is_empty() {
            return Ok(());
        }
        self.beside(|db| {
            for (id, time) in tokens {
                db.execute(sql::USED, values![*id, *time])?;
            }
            Ok(())
        })
    }

    /// Adds an entry to the audit log: the name of the token, the request, and the HTTP status of
    /// its answer.
    ///
    /// # Errors
    /// If writing to the store fails.
    pub fn audit(&self, now: i64, who: &str, what: &str, status: u16) -> Result<(), FarmError> {
        let row = values![now, who, what, i64::from(status)];
        self.beside(|db| Ok(db.execute(sql::ADD_AUDIT, row).map(|_| ())?))
    }

    /// Returns a page of the audit log, latest entry first.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn audited(&self, after: Option<&str>, most: i64) -> Result<Page<AuditEntry>, FarmError> {
        let before = paging::number(after)?.unwrap_or(i64::MAX);
        let found = self.look(|db| {
            Ok(db.rows(sql::AUDIT, values![before, most + 1], |row| {
                Ok(AuditEntry {
                    id: row.get(0)?,
                    time: when::text(row.get(1)?),
                    who: row.get(2)?,
                    what: row.get(3)?,
                    status: u16::try_from(row.get::<i64>(4)?).unwrap_or(0),
                })
            })?)
        })?;
        Ok(paging::page(found, most, |line| line.id.to_string()))
    }
}

/// Returns a token's text as given to the user: a prefix, the number by which the token is found in
/// the store, and the secret.
fn full_secret(id: i64, secret: &str) -> String {
    format!("{PREFIX}_{id}_{secret}")
}

fn parts(told: &str) -> Option<(i64, &str)> {
    let (id, secret) = told.strip_prefix(PREFIX)?.strip_prefix('_')?.split_once('_')?;
    Some((id.parse().ok()?, secret))
}

fn no_token(id: i64) -> FarmError {
    FarmError::NotFound(format!("token {id}"))
}

type TokenRow = (i64, String, i64, Option<i64>);

fn token_row(row: &Row<'_>) -> Result<TokenRow, DbError> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn read((id, said, made, used): TokenRow) -> Result<Token, Stop> {
    Ok(Token { id, of: from_json(&said)?, made: when::text(made), used: used.map(when::text) })
}

fn token(db: &Db, id: i64) -> Result<Token, Stop> {
    let row = db.rows(sql::TOKEN, values![id], token_row)?.pop();
    read(row.ok_or_else(|| no_token(id))?)
}
