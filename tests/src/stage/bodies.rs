/// Makes two tests of each body: one on the fake, and one on the program that `HERDR_BIN`
/// names, which reports that it is skipped if there is none.
///
/// A body is a function of a [`Stage`](crate::stage::Stage). Bodies under `shared` get a pane
/// on a common server, those under `own` a server of their own.
#[macro_export]
macro_rules! bodies {
    ($(shared: $($shared:ident),+ $(,)?;)? $(own: $($own:ident),+ $(,)?;)?) => {
        mod on_the_fake {
            use $crate::stage::{Share, Stage};

            $($(#[test] fn $shared() { super::$shared(&Stage::fake(Share::Shared)); })+)?
            $($(#[test] fn $own() { super::$own(&Stage::fake(Share::Own)); })+)?
        }

        mod live {
            use $crate::stage::{Share, Stage};

            $($(#[test] fn $shared() {
                if let Some(stage) = Stage::live(Share::Shared, stringify!($shared)) {
                    super::$shared(&stage);
                }
            })+)?
            $($(#[test] fn $own() {
                if let Some(stage) = Stage::live(Share::Own, stringify!($own)) {
                    super::$own(&stage);
                }
            })+)?
        }
    };
}
