//! Tests of tokens that are forged, expired, revoked or rotated.

use super::*;
use crate::builds::model::Scope;
use crate::builds::wire::NewToken;

fn new(scope: Scope) -> NewToken {
    let node = (scope == Scope::Agent).then(|| "a".to_owned());
    NewToken { name: "ci".to_owned(), scope, node, owner: None, until: None }
}

#[test]
fn only_the_last_secret_of_a_token_opens_anything() {
    on_both(|home| {
        let store = home.store();
        assert!(!store.has_tokens().unwrap());
        let made = store.add_token(&new(Scope::Agent), NOW).unwrap();
        assert!(store.has_tokens().unwrap());
        let found = |secret: &str, now: i64| store.token_of(secret, now).unwrap();
        assert_eq!(found(&made.secret, NOW).unwrap(), made.token);
        let forged = made.secret.replace('a', "b");
        for bad in ["", "assay_1_", "assay_9_x", "assay_x_y", "x", &forged, &made.secret[..40]] {
            assert_eq!(found(bad, NOW), None, "{bad}");
        }
        let rotated = store.rotate_token(made.token.id).unwrap();
        assert_eq!(found(&made.secret, NOW), None);
        assert_eq!(found(&rotated.secret, NOW).unwrap().id, made.token.id);
        store.used(&[(made.token.id, NOW + 5)]).unwrap();
        assert_eq!(
            store.tokens(None, 9).unwrap().items[0].used,
            Some(crate::builds::when::text(NOW + 5))
        );
        store.remove_token(made.token.id).unwrap();
        assert_eq!(found(&rotated.secret, NOW), None);
        assert_eq!(store.rotate_token(made.token.id).unwrap_err().code(), "not_found");
        assert!(store.tokens(None, 9).unwrap().items.is_empty());
    });
}

#[test]
fn a_token_ends_when_it_says_and_names_what_it_is_for() {
    let home = Home::new();
    let store = home.store();
    let until = Some(crate::builds::when::text(NOW + 1_000));
    let made = store.add_token(&NewToken { until, ..new(Scope::Read) }, NOW).unwrap();
    assert!(store.token_of(&made.secret, NOW + 999).unwrap().is_some());
    assert!(store.token_of(&made.secret, NOW + 1_000).unwrap().is_none());
    let over = NewToken { until: Some(crate::builds::when::text(NOW)), ..new(Scope::Read) };
    let bound = NewToken { node: Some("a".to_owned()), ..new(Scope::Read) };
    let free = NewToken { node: None, ..new(Scope::Agent) };
    let owned = NewToken { owner: Some("rails".to_owned()), ..new(Scope::Admin) };
    for bad in [over, bound, free, owned] {
        assert_eq!(store.add_token(&bad, NOW).unwrap_err().code(), "bad_request", "{bad:?}");
    }
}

#[test]
fn a_secret_is_nowhere_in_the_file() {
    let home = Home::new();
    let made = home.store().add_token(&new(Scope::Admin), NOW).unwrap();
    let secret = made.secret.rsplit('_').next().unwrap().as_bytes();
    for file in std::fs::read_dir(home.directory.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret));
    }
    assert!(!format!("{:?}", home.store()).contains(&made.secret));
}

#[test]
fn the_audit_goes_back_by_pages() {
    on_both(|home| {
        let store = home.store();
        for n in 0..5 {
            store.audit(NOW + n, "ci", "PUT /x", 201).unwrap();
        }
        let first = store.audited(None, 3).unwrap();
        assert_eq!(first.items.iter().map(|line| line.id).collect::<Vec<_>>(), [5, 4, 3]);
        let rest = store.audited(first.next.as_deref(), 3).unwrap();
        assert_eq!((rest.items.len(), rest.next), (2, None));
    });
}
